import { concatBytes } from "../../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../../src/primitives/quantity.ts";
import type { Random } from "../../../storage/random.ts";
import { chance, pick, word } from "../draws.ts";
import type { Numbers, PointGroup } from "./pointGroups.ts";

/** Encodes a point; mostly one that is valid, else one that is nearly. */
export function aPoint(random: Random, group: PointGroup, validPercent: number): Uint8Array {
  if (chance(random, validPercent)) return encoded(group, aValidPoint(random, group));
  return spoiled(random, group, chance(random, 80) ? group.member(random) : aValidPoint(random, group));
}

/** Of the group; sometimes at infinity. */
export function aValidPoint(random: Random, group: PointGroup): Numbers {
  return chance(random, 12) ? infinity(group) : group.member(random);
}

export function infinity({ numbers }: PointGroup): Numbers {
  return new Array<bigint>(numbers).fill(0n);
}

/** Numbers one after the other, as far as their bytes hold them. */
export function encoded({ numberBytes }: PointGroup, numbers: Numbers): Uint8Array {
  return concatBytes(
    ...numbers.map((number) => bigintToFixedBytes(BigInt.asUintN(8 * numberBytes, number), numberBytes)),
  );
}

/** A number at the borders of a field. */
export function fieldNumber(random: Random, modulus: bigint, numberBytes: number): bigint {
  const bits = modulus.toString(2).length;
  switch (random.below(12)) {
    case 0:
      return 0n;
    case 1:
      return BigInt(1 + random.below(4));
    case 2:
      return modulus - 1n - BigInt(random.below(3));
    case 3:
      return modulus;
    case 4:
      return modulus + BigInt(1 + random.below(3));
    case 5:
      return 2n ** BigInt(8 * numberBytes) - 1n;
    case 6:
      return 2n ** BigInt(bits) - BigInt(random.below(2));
    case 7:
      return 2n ** BigInt(8 * Math.ceil(bits / 8)) - BigInt(random.below(2));
    case 8:
      // The same word or limb as the modulus, and others before or after it.
      return ((modulus >> 32n) << 32n) + BigInt(random.below(2 ** 32));
    case 9:
      return (modulus + 1n) / 2n - BigInt(random.below(2));
    default:
      return BigInt(`0x1${Buffer.from(random.bytes(numberBytes)).toString("hex")}`) % modulus;
  }
}

/** A factor at the borders of a group's order. */
export function scalar(random: Random, order: bigint): bigint {
  switch (random.below(9)) {
    case 0:
      return 0n;
    case 1:
      return BigInt(1 + random.below(5));
    case 2:
      return order - 1n + BigInt(random.below(3));
    case 3:
      return 2n ** 256n - 1n - BigInt(random.below(2));
    case 4: {
      const most = 2n ** 256n / order;
      return most * order - BigInt(random.below(2));
    }
    case 5:
      return 2n ** BigInt(random.below(256)) - BigInt(random.below(2));
    case 6:
      return 2n * order + BigInt(random.below(3)) - 1n;
    default:
      return word(random);
  }
}

type Spoil = (random: Random, group: PointGroup, numbers: bigint[]) => Numbers;

function spoiled(random: Random, group: PointGroup, numbers: Numbers): Uint8Array {
  const bytes = encoded(group, pick(random, SPOILS)(random, group, [...numbers]));
  const padding = group.numberBytes - Math.ceil(group.modulus.toString(16).length / 2);
  if (padding > 0 && chance(random, 15)) {
    const number = group.numberBytes * random.below(group.numbers);
    bytes[number + random.below(padding)] = chance(random, 50) ? 1 : 1 + random.below(255);
  }
  return bytes;
}

const SPOILS: readonly Spoil[] = [
  // On the curve, but of another order; twice as often.
  (random, group, numbers) => group.outsider(random) ?? numbers,
  (random, group, numbers) => group.outsider(random) ?? numbers,
  (random, { modulus, numberBytes }, numbers) =>
    changed(random, numbers, () => fieldNumber(random, modulus, numberBytes)),
  // The same number by another spelling.
  (random, { modulus }, numbers) =>
    changed(random, numbers, (number) => number + modulus * BigInt(1 + random.below(5))),
  (random, _, numbers) => changed(random, numbers, (number) => number ^ (1n << BigInt(random.below(382)))),
  (random, _, numbers) => changed(random, numbers, (number) => number + 1n),
  (random, _, numbers) => changed(random, numbers, () => 0n),
  // Coordinates, or the parts of each, in the other order.
  (_, __, numbers) => [...numbers.slice(numbers.length / 2), ...numbers.slice(0, numbers.length / 2)],
  (_, __, numbers) => numbers.map((_number, index) => numbers[index ^ 1] ?? 0n),
  (_, __, numbers) => numbers.toReversed(),
  (_, { modulus }, numbers) => numbers.map(() => modulus),
  (random, { modulus, numberBytes }, numbers) => numbers.map(() => fieldNumber(random, modulus, numberBytes)),
  // At infinity but for one bit.
  (random, _, numbers) => changed(random, numbers.fill(0n), () => 1n << BigInt(random.below(384))),
  // Mirrored in one part of y only, or at x.
  (random, { modulus }, numbers) => changed(random, numbers, (number) => modulus - number),
];

function changed(random: Random, numbers: bigint[], change: (number: bigint) => bigint): Numbers {
  const at = random.below(numbers.length);
  return numbers.map((number, index) => (index === at ? change(number) : number));
}
