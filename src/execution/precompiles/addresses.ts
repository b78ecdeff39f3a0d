import { FORK_NAMES, type ForkName, isAtLeast } from "../../chainspec/forks.ts";
import { type Address, asAddress } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { bigintToFixedBytes } from "../../primitives/quantity.ts";

/**
 * Keys of the precompiled contracts that a fork brings along; they are always warm (EIP-2929). Told here and not asked of
 * the library, which need not be there before the first contract runs.
 */
export function precompileKeys(fork: ForkName): ReadonlySet<string> {
  return KEYS.get(fork) ?? new Set();
}

/** From each of these forks on there are so many, numbered from 1. */
const COUNTS: readonly (readonly [ForkName, number])[] = [
  ["frontier", 4],
  ["byzantium", 8],
  ["istanbul", 9],
  ["cancun", 10],
  ["prague", 17],
];

const KEYS: ReadonlyMap<ForkName, ReadonlySet<string>> = new Map(
  FORK_NAMES.map((fork) => {
    const count = COUNTS.findLast(([since]) => isAtLeast(fork, since))?.[1] ?? 0;
    return [fork, new Set(Array.from({ length: count }, (_, index) => toKey(precompileAddress(index + 1))))];
  }),
);

export function precompileAddress(number: number): Address {
  return asAddress(bigintToFixedBytes(BigInt(number), 20));
}

/** Precompiled contracts have low addresses, so nearly always a look at the first bytes is enough. */
export function hasLowNumber(address: Uint8Array): boolean {
  for (let at = 0; at < 18; at++) if (address[at] !== 0) return false;
  return true;
}
