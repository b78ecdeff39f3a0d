import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bn254 } from "@noble/curves/bn254.js";
import type { Random } from "../../../storage/random.ts";
import { pick } from "../draws.ts";

/** A point by its numbers as contracts take them, the coordinate of x first; zeros for the point at infinity. */
export type Numbers = readonly bigint[];

/** The points of a curve over a field or its extension, as far as precompiled contracts can be told of them. */
export interface PointGroup {
  readonly modulus: bigint;
  /** Order of the group that pairings are about. */
  readonly order: bigint;
  /** In the encoding of a number. */
  readonly numberBytes: number;
  /** How many numbers a point has: two, or four for a curve over the extension. */
  readonly numbers: number;
  /** A point of the group, never at infinity. */
  member(random: Random): Numbers;
  /** The generator times a factor. */
  multiple(factor: bigint): Numbers;
  /** On the curve but not of the group: of a small order, of any, or one of the group plus such a point; undefined if all are of it. */
  outsider(random: Random): Numbers | undefined;
  /** The same point mirrored. */
  negated(numbers: Numbers): Numbers;
}

interface Point {
  add(other: Point): Point;
  double(): Point;
  is0(): boolean;
  toAffine(): { readonly x: unknown; readonly y: unknown };
}

interface Field {
  readonly ONE: unknown;
  sqrt(value: unknown): unknown;
  sqr(value: unknown): unknown;
  mul(a: unknown, b: unknown): unknown;
  add(a: unknown, b: unknown): unknown;
}

interface Curve {
  readonly zero: Point;
  readonly generator: Point;
  readonly field: Field;
  readonly b: unknown;
  /** So many times as many points as the group has. */
  readonly cofactor: bigint;
  /** Prime factors of the cofactor. */
  readonly primes: readonly bigint[];
  fromAffine(affine: { readonly x: unknown; readonly y: unknown }): Point;
  numbersOf(coordinate: unknown): Numbers;
}

interface Encoding {
  readonly modulus: bigint;
  readonly order: bigint;
  readonly numberBytes: number;
}

/** Members come from so many, added in pairs: what is multiplied out takes long. */
const POOL = 24;

function pointGroup(curve: Curve, { modulus, order, numberBytes }: Encoding): PointGroup {
  const numbersOf = (point: Point): Numbers => {
    const { x, y } = point.toAffine();
    return point.is0() ? zeros.slice() : [...curve.numbersOf(x), ...curve.numbersOf(y)];
  };
  const zeros = new Array<bigint>(2 * curve.numbersOf(curve.field.ONE).length).fill(0n);
  const pool = once(() =>
    Array.from({ length: POOL }, (_, index) => times(curve, curve.generator, BigInt(index + 1) ** 17n)),
  );
  const outside = once(() => outsiders(curve, order));
  const member = (random: Random): Point => pick(random, pool()).add(pick(random, pool()));
  return {
    modulus,
    order,
    numberBytes,
    numbers: zeros.length,
    member: (random) => numbersOf(random.below(6) === 0 ? curve.generator : member(random)),
    multiple: (factor) => numbersOf(times(curve, curve.generator, factor)),
    outsider(random) {
      if (curve.cofactor === 1n) return undefined;
      const point = pick(random, outside());
      return numbersOf(random.below(3) === 0 ? point.add(member(random)) : point);
    },
    negated: (numbers) =>
      numbers.map((number, index) =>
        index < numbers.length / 2 || number === 0n ? number : modulus - number,
      ),
  };
}

/** Points of each prime order that divides the cofactor, one of their sums, and two of a large order. */
function outsiders(curve: Curve, order: bigint): Point[] {
  const anywhere = anyPoints(curve);
  const large = [anywhere.next().value as Point, times(curve, anywhere.next().value as Point, order)];
  const small = curve.primes.map((prime) => {
    let rest = curve.cofactor * order;
    while (rest % prime === 0n) rest /= prime;
    for (;;) {
      let point = times(curve, anywhere.next().value as Point, rest);
      if (point.is0()) continue;
      for (let next = times(curve, point, prime); !next.is0(); next = times(curve, point, prime))
        point = next;
      return point;
    }
  });
  return [...small, ...large, small.reduce((sum, point) => sum.add(point), curve.zero)];
}

/** Half of all x have a y. */
function* anyPoints({ field, b, fromAffine }: Curve): Generator<Point, never> {
  for (let x = field.ONE; ; x = field.add(x, field.ONE)) {
    let y: unknown;
    try {
      y = field.sqrt(field.add(field.mul(field.sqr(x), x), b));
    } catch {
      continue;
    }
    yield fromAffine({ x, y });
  }
}

/** By additions alone, because the package multiplies only points of the group, and by less than its order. */
function times({ zero }: Curve, point: Point, factor: bigint): Point {
  let sum = zero;
  for (const bit of factor.toString(2)) {
    sum = sum.double();
    if (bit === "1") sum = sum.add(point);
  }
  return sum;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

type Maker = typeof bls12_381.G1.Point | typeof bls12_381.G2.Point;
type Pair = { readonly c0: bigint; readonly c1: bigint };

function curveOf(maker: Maker, primes: readonly bigint[], numbersOf: (coordinate: never) => Numbers): Curve {
  const { b, h } = maker.CURVE();
  return {
    zero: maker.ZERO as unknown as Point,
    generator: maker.BASE as unknown as Point,
    field: maker.Fp as unknown as Field,
    b,
    cofactor: h,
    primes,
    fromAffine: (affine) => maker.fromAffine(affine as never) as unknown as Point,
    numbersOf: numbersOf as (coordinate: unknown) => Numbers,
  };
}

const single = (number: bigint): Numbers => [number];
const secondFirst = ({ c0, c1 }: Pair): Numbers => [c1, c0];
const firstFirst = ({ c0, c1 }: Pair): Numbers => [c0, c1];

const BN254 = { modulus: bn254.fields.Fp.ORDER, order: bn254.fields.Fr.ORDER, numberBytes: 32 };
const BLS12 = { modulus: bls12_381.fields.Fp.ORDER, order: bls12_381.fields.Fr.ORDER, numberBytes: 64 };

export const BN254_G1 = pointGroup(curveOf(bn254.G1.Point, [], single), BN254);
export const BN254_G2 = pointGroup(
  curveOf(
    bn254.G2.Point,
    [
      10_069n,
      5_864_401n,
      1_875_725_156_269n,
      197_620_364_512_881_247_228_717_050_342_013_327_560_683_201_906_968_909n,
    ],
    secondFirst,
  ),
  BN254,
);
export const BLS12_G1 = pointGroup(
  curveOf(bls12_381.G1.Point, [3n, 11n, 10_177n, 859_267n, 52_437_899n], single),
  BLS12,
);
export const BLS12_G2 = pointGroup(
  curveOf(bls12_381.G2.Point, [13n, 23n, 2_713n, 11_953n, 262_069n], firstFirst),
  BLS12,
);
