import { FORK_NAMES, type ForkName, isAtLeast } from "../../chainspec/forks.ts";

/**
 * Keys (hex without prefix) of the precompiled contracts that a fork brings along; they are always warm (EIP-2929). Told
 * here and not asked of the library, which need not be there before the first contract runs.
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
    return [fork, new Set(Array.from({ length: count }, (_, index) => keyOf(index + 1)))];
  }),
);

function keyOf(number: number): string {
  return number.toString(16).padStart(40, "0");
}
