import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { includesBytes, toHex } from "../primitives/hex.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { recoverAddress, type Signature } from "../primitives/secp256k1.ts";
import type { Digest } from "../types/blockHash.ts";
import { quorum } from "./validatorSet.ts";

export type SealErrorCode = "unreadableSeal" | "duplicateSeal" | "sealerNotValidator" | "tooFewSeals";

/**
 * Checks who sealed a block (ibft2.md#header-rules, rule 12): a quorum of the validators after the parent, each once,
 * and no other account. `sealers` are recovered from the header's seals, undefined where no key can be recovered.
 */
export function checkSealers(
  sealers: readonly (Address | undefined)[],
  validators: readonly Address[],
): Result<void, SealErrorCode> {
  const seen = new Set<string>();
  for (const sealer of sealers) {
    if (sealer === undefined) return refuse("unreadableSeal", "a commit seal fits no key");
    const address = toHex(sealer);
    if (seen.has(toKey(sealer))) return refuse("duplicateSeal", `${address} sealed twice`);
    if (!includesBytes(validators, sealer)) {
      return refuse("sealerNotValidator", `${address} sealed but is not a validator`);
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

/** The signer of each commit seal over `digest`, undefined where no key can be recovered. About 45 µs per seal. */
export function recoverSealers(
  digest: Digest,
  seals: readonly Signature[],
): readonly (Address | undefined)[] {
  return seals.map((seal) => recoverAddress(digest, seal));
}
