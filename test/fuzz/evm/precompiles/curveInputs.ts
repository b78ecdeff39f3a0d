import { concatBytes } from "../../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../../src/primitives/quantity.ts";
import type { Random } from "../../../storage/random.ts";
import { chance, weighted } from "../draws.ts";
import { aPoint, aValidPoint, encoded, infinity, scalar } from "./pointEncodings.ts";
import type { Numbers, PointGroup } from "./pointGroups.ts";

type Draw = (random: Random) => Uint8Array;

const word = (value: bigint): Uint8Array => bigintToFixedBytes(value, 32);

/** Two points: any, equal, or opposite. */
export function sumOf(group: PointGroup): Draw {
  return (random) => {
    const first = chance(random, 30) ? group.outsider(random) : undefined;
    const point = first ?? aValidPoint(random, group);
    switch (random.below(8)) {
      case 0:
        return concatBytes(encoded(group, point), encoded(group, point));
      case 1:
        return concatBytes(encoded(group, point), encoded(group, group.negated(point)));
      case 2:
        return concatBytes(encoded(group, point), encoded(group, infinity(group)));
      case 3:
        return concatBytes(encoded(group, infinity(group)), encoded(group, point));
      case 4:
        return concatBytes(encoded(group, point), encoded(group, group.outsider(random) ?? point));
      default:
        return concatBytes(aPoint(random, group, 75), aPoint(random, group, 75));
    }
  };
}

/** A point and a factor. */
export function productOf(group: PointGroup): Draw {
  return (random) => concatBytes(aPoint(random, group, 75), word(scalar(random, group.order)));
}

/** Points with factors; some are repeated, some cancel each other. */
export function sumOfProductsOf(group: PointGroup): Draw {
  return (random) => {
    const count = weighted(random, [
      [3, 0],
      [25, 1],
      [30, 2],
      [25, 3 + random.below(4)],
      [6, 8 + random.below(24)],
      [1, 125 + random.below(8)],
    ]);
    // Many points together are valid too.
    const validPercent = count < 4 ? 82 : 99;
    const terms: Uint8Array[] = [];
    while (terms.length < count) terms.push(...someTerms(random, group, validPercent));
    return concatBytes(...terms.slice(0, count));
  };
}

function someTerms(random: Random, group: PointGroup, validPercent: number): Uint8Array[] {
  const factor = scalar(random, group.order);
  const term = (numbers: Numbers, by: bigint): Uint8Array => concatBytes(encoded(group, numbers), word(by));
  if (!chance(random, 25)) return [concatBytes(aPoint(random, group, validPercent), word(factor))];
  const point = group.member(random);
  const reduced = factor % group.order;
  switch (random.below(4)) {
    case 0:
      return [term(point, factor), term(point, factor)];
    case 1:
      return [term(point, factor), term(group.negated(point), factor)];
    case 2:
      return [term(point, reduced), term(point, group.order - reduced)];
    default:
      return [term(infinity(group), factor), term(point, 0n), term(point, group.order)];
  }
}

/** Pairs of points; often such that their pairings cancel each other. */
export function pairingOf(group: PointGroup, group2: PointGroup): Draw {
  return (random) => {
    const count = weighted(random, [
      [6, 0],
      [40, 1],
      [40, 2],
      [15, 3 + random.below(2)],
      [2, 5 + random.below(4)],
    ]);
    const validPercent = count < 3 ? 85 : 96;
    const pairs: Uint8Array[] = [];
    while (pairs.length < count) pairs.push(...somePairs(random, group, group2, validPercent));
    // Of a pair that is cut off the other stays.
    return concatBytes(...pairs.slice(0, count));
  };
}

function somePairs(
  random: Random,
  group: PointGroup,
  group2: PointGroup,
  validPercent: number,
): Uint8Array[] {
  const pair = (point: Numbers, point2: Numbers): Uint8Array =>
    concatBytes(encoded(group, point), encoded(group2, point2));
  const [point, point2] = [group.member(random), group2.member(random)];
  switch (random.below(6)) {
    case 0:
      return [pair(point, point2), pair(group.negated(point), point2)];
    case 1:
      return [pair(point, point2), pair(point, group2.negated(point2))];
    case 2: {
      const [a, b] = [BigInt(1 + random.below(1000)), BigInt(1 + random.below(1000))];
      const product = group.negated(group.multiple(a * b));
      return [pair(group.multiple(a), group2.multiple(b)), pair(product, group2.multiple(1n))];
    }
    case 3:
      // One of the two at infinity, the other of any kind.
      return [
        concatBytes(encoded(group, infinity(group)), aPoint(random, group2, 40)),
        concatBytes(aPoint(random, group, 60), encoded(group2, infinity(group2))),
      ];
    default:
      return [concatBytes(aPoint(random, group, validPercent), aPoint(random, group2, validPercent))];
  }
}
