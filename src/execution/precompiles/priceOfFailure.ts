import { type ForkName, isAtLeast } from "../../chainspec/forks.ts";

/**
 * The price of a precompiled contract for an input on which it fails: the price is computed before the failure is
 * found. Undefined for contracts that cannot fail, and for those of BLS12-381, whose prices come from tables.
 */
export function priceOfFailure(number: number, inputBytes: number, fork: ForkName): bigint | undefined {
  const isCheap = isAtLeast(fork, "istanbul");
  switch (number) {
    case 0x06:
      return isCheap ? 150n : 500n;
    case 0x07:
      return isCheap ? 6_000n : 40_000n;
    case 0x08: {
      const pairs = BigInt(Math.floor(inputBytes / PAIR_BYTES));
      return isCheap ? 45_000n + pairs * 34_000n : 100_000n + pairs * 80_000n;
    }
    case 0x09:
      // An input of the wrong length, or with an invalid flag, has no rounds to pay for.
      return 0n;
    case 0x0a:
      return 50_000n;
    default:
      return undefined;
  }
}

const PAIR_BYTES = 192;
