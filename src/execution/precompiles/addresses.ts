import { FORK_NAMES, type ForkName, isAtLeast } from "../../chainspec/forks.ts";
import { type Address, asAddress } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { bigintToFixedBytes } from "../../primitives/quantity.ts";

/** Keys of a fork's precompiled contracts, which are always warm (EIP-2929). */
export function precompileKeys(fork: ForkName): ReadonlySet<string> {
  return KEYS.get(fork) ?? new Set();
}

/** Number of precompiled contracts from each fork on; their numbers start at 1. */
const COUNTS: readonly (readonly [ForkName, number])[] = [
  ["frontier", 4],
  ["byzantium", 8],
  ["istanbul", 9],
  ["cancun", 10],
  ["prague", 17],
];

/** Number of precompiled contracts that a fork has. */
export function precompileCount(fork: ForkName): number {
  return COUNTS.findLast(([since]) => isAtLeast(fork, since))?.[1] ?? 0;
}

const KEYS: ReadonlyMap<ForkName, ReadonlySet<string>> = new Map(
  FORK_NAMES.map((fork) => {
    const count = precompileCount(fork);
    return [fork, new Set(Array.from({ length: count }, (_, index) => toKey(precompileAddress(index + 1))))];
  }),
);

export function precompileAddress(number: number): Address {
  return asAddress(bigintToFixedBytes(BigInt(number), 20));
}

export function isRipemd160(address: Uint8Array): boolean {
  return address[19] === 3 && address[18] === 0 && hasLowNumber(address);
}

/** False for nearly all other addresses: precompiled contracts have low ones. */
export function hasLowNumber(address: Uint8Array): boolean {
  for (let at = 0; at < 18; at++) if (address[at] !== 0) return false;
  return true;
}
