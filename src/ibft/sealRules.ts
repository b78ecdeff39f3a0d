import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { includesBytes, toHex } from "../primitives/hex.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { quorum } from "./quorum.ts";

export type SealErrorCode = "unreadableSeal" | "duplicateSeal" | "sealerNotValidator" | "tooFewSeals";

/**
 * Who must have sealed a block (ibft2.md#header-rules, rule 12): a quorum of the validators after the parent,
 * each once, nobody else. `sealers` are those recovered from the header's seals, undefined where a seal fits
 * no key.
 */
export function checkSealers(
  sealers: readonly (Address | undefined)[],
  validators: readonly Address[],
): Result<void, SealErrorCode> {
  const seen = new Set<string>();
  for (const sealer of sealers) {
    if (sealer === undefined) return refuse("unreadableSeal", "a commit seal fits no key");
    const name = toHex(sealer);
    if (seen.has(toKey(sealer))) return refuse("duplicateSeal", `${name} sealed twice`);
    if (!includesBytes(validators, sealer)) {
      return refuse("sealerNotValidator", `${name} sealed but is not a validator`);
    }
    seen.add(toKey(sealer));
  }
  const needed = quorum(validators.length);
  if (seen.size < needed) {
    return refuse("tooFewSeals", `${seen.size} commit seals; ${validators.length} validators need ${needed}`);
  }
  return ok(undefined);
}

function refuse(code: SealErrorCode, message: string): Result<void, SealErrorCode> {
  return err({ code, fault: "peer", message });
}
