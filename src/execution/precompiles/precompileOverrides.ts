import type { ForkName } from "../../chainspec/forks.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { compareBytes, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { AccountOverride } from "../simulation/callRequest.ts";
import { precompileKeys } from "./addresses.ts";

/** Precompiled contracts by address, after overrides: key of the address, key of the contract's own address. */
export type PrecompileOverrides = ReadonlyMap<string, string>;

/**
 * Moves precompiled contracts by `precompileTo`, and removes those whose code is overridden; undefined if there is no
 * such override. If two move to one address, the one with the higher address wins, and replaces a contract that was
 * there. Refuses, as go-ethereum does, to move an account that is not a precompile, or to an overridden address.
 */
export function overridePrecompiles(
  fork: ForkName,
  overrides: readonly AccountOverride[],
): Result<PrecompileOverrides | undefined, "precompileNotMovable"> {
  if (overrides.every(({ code, precompileTo }) => code === undefined && precompileTo === undefined))
    return ok(undefined);
  const byAddress = new Map([...precompileKeys(fork)].map((key) => [key, key]));
  const overridden = new Set(overrides.map(({ address }) => toKey(address)));
  const sorted = [...overrides].sort((a, b) => compareBytes(a.address, b.address));
  for (const { address, code, precompileTo } of sorted) {
    const own = byAddress.get(toKey(address));
    if (precompileTo !== undefined) {
      if (own === undefined)
        return fail("caller", "precompileNotMovable", `account ${toHex(address)} is not a precompile`);
      if (overridden.has(toKey(precompileTo)))
        return fail("caller", "precompileNotMovable", `account ${toHex(precompileTo)} is already overridden`);
      byAddress.set(toKey(precompileTo), own);
    }
    if (code !== undefined || precompileTo !== undefined) byAddress.delete(toKey(address));
  }
  return ok(byAddress);
}
