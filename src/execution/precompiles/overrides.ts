import type { ForkName } from "../../chainspec/forks.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { compareBytes, toHex } from "../../primitives/hex.ts";
import { err, ok, type Result } from "../../primitives/result.ts";
import type { AccountOverride } from "../simulation.ts";
import { precompileKeys } from "./addresses.ts";

/** Where precompiled contracts answer when a caller wants some elsewhere: key of an address, key of the contract's own. */
export type PrecompileOverrides = ReadonlyMap<string, string>;

/**
 * Moves precompiled contracts as overrides say, and takes away those whose code is overridden; undefined when all are
 * where they belong. Where two are moved to one address, that with the higher address wins, and a contract that was
 * there is gone. Refused, as by go-ethereum: to move what is none, or to an address that is overridden as well.
 */
export function placePrecompiles(
  fork: ForkName,
  overrides: readonly AccountOverride[],
): Result<PrecompileOverrides | undefined, "precompileNotMovable"> {
  if (overrides.every(({ code, precompileTo }) => code === undefined && precompileTo === undefined))
    return ok(undefined);
  const places = new Map([...precompileKeys(fork)].map((key) => [key, key]));
  const overridden = new Set(overrides.map(({ address }) => toKey(address)));
  const sorted = [...overrides].sort((a, b) => compareBytes(a.address, b.address));
  for (const { address, code, precompileTo } of sorted) {
    const own = places.get(toKey(address));
    if (precompileTo !== undefined) {
      if (own === undefined) return refuse(`account ${toHex(address)} is not a precompile`);
      if (overridden.has(toKey(precompileTo)))
        return refuse(`account ${toHex(precompileTo)} is already overridden`);
      places.set(toKey(precompileTo), own);
    }
    if (code !== undefined || precompileTo !== undefined) places.delete(toKey(address));
  }
  return ok(places);
}

function refuse(message: string): Result<never, "precompileNotMovable"> {
  return err({ code: "precompileNotMovable", fault: "caller", message });
}
