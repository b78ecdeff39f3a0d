import { type ForkName, isAtLeast } from "../../../../src/chainspec/forks.ts";
import { concatBytes } from "../../../../src/primitives/hex.ts";
import type { Random } from "../../../storage/random.ts";
import { chance, weighted } from "../draws.ts";
import { pairingOf, productOf, sumOf, sumOfProductsOf } from "./curveInputs.ts";
import { mapped } from "./mapInputs.ts";
import { aCompression, aPower, aRecovery, noise } from "./numberInputs.ts";
import { BLS12_G1, BLS12_G2, BN254_G1, BN254_G2 } from "./pointGroups.ts";
import { aProof } from "./proofInputs.ts";

/** What is asked of the precompiled contract with a number. */
export interface PrecompileInput {
  readonly number: number;
  readonly input: Uint8Array;
}

/** An input at the borders of what a contract distinguishes; mostly of one that the fork has. */
export function aBorderInput(random: Random, fork: ForkName): PrecompileInput {
  const has = (since: ForkName): boolean => isAtLeast(fork, since) || chance(random, 3);
  const { number, draw } = weighted(
    random,
    CONTRACTS.map((contract) => [has(contract.since) ? contract.weight : 0, contract] as const),
  );
  return { number, input: ofAnyLength(random, draw(random)) };
}

/** One that leaves room for other things in a program. */
export function aShortBorderInput(random: Random, fork: ForkName): PrecompileInput {
  for (;;) {
    const drawn = aBorderInput(random, fork);
    if (drawn.input.length <= SHORT_BYTES) return drawn;
  }
}

const SHORT_BYTES = 2000;

interface Contract {
  readonly number: number;
  readonly since: ForkName;
  /** Slow ones, in go-ethereum or here, are rarer. */
  readonly weight: number;
  readonly draw: (random: Random) => Uint8Array;
}

const CONTRACTS: readonly Contract[] = [
  { number: 0x01, since: "frontier", weight: 8, draw: aRecovery },
  { number: 0x02, since: "frontier", weight: 2, draw: noise },
  { number: 0x03, since: "frontier", weight: 2, draw: noise },
  { number: 0x04, since: "frontier", weight: 2, draw: noise },
  { number: 0x05, since: "byzantium", weight: 14, draw: aPower },
  { number: 0x06, since: "byzantium", weight: 8, draw: sumOf(BN254_G1) },
  { number: 0x07, since: "byzantium", weight: 8, draw: productOf(BN254_G1) },
  { number: 0x08, since: "byzantium", weight: 4, draw: pairingOf(BN254_G1, BN254_G2) },
  { number: 0x09, since: "istanbul", weight: 6, draw: aCompression },
  { number: 0x0a, since: "cancun", weight: 8, draw: aProof },
  { number: 0x0b, since: "prague", weight: 9, draw: sumOf(BLS12_G1) },
  { number: 0x0c, since: "prague", weight: 7, draw: sumOfProductsOf(BLS12_G1) },
  { number: 0x0d, since: "prague", weight: 9, draw: sumOf(BLS12_G2) },
  { number: 0x0e, since: "prague", weight: 6, draw: sumOfProductsOf(BLS12_G2) },
  { number: 0x0f, since: "prague", weight: 5, draw: pairingOf(BLS12_G1, BLS12_G2) },
  { number: 0x10, since: "prague", weight: 7, draw: mapped(1) },
  { number: 0x11, since: "prague", weight: 6, draw: mapped(2) },
  { number: 0x12, since: "frontier", weight: 1, draw: noise },
  { number: 0x100, since: "frontier", weight: 1, draw: noise },
];

/** Mostly as it is; else a byte shorter or longer, with much more at the end, empty, or cut anywhere. */
function ofAnyLength(random: Random, input: Uint8Array): Uint8Array {
  if (chance(random, 88)) return input;
  switch (random.below(6)) {
    case 0:
      return input.subarray(0, Math.max(0, input.length - 1));
    case 1:
      return concatBytes(input, Uint8Array.of(random.below(2)));
    case 2:
      return concatBytes(
        input,
        chance(random, 50) ? new Uint8Array(random.below(300)) : random.bytes(random.below(300)),
      );
    case 3:
      return new Uint8Array();
    case 4:
      return input.subarray(random.below(input.length + 1));
    default:
      return input.subarray(0, random.below(input.length + 1));
  }
}
