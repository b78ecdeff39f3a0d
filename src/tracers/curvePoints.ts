import { bytesToBigint } from "../primitives/quantity.ts";

/** A curve y² = x³ + b of the precompiled contracts over a prime field, and its twist over the quadratic extension. */
export interface Curve {
  /** Order of the prime field. */
  readonly order: bigint;
  readonly b: bigint;
  readonly twistB: Pair;
  /** Bytes of a number in the contracts' input, and how many leading ones of them must be zero. */
  readonly numberBytes: number;
  readonly paddingBytes: number;
  /** Whether the input has the second number of a pair first. */
  readonly hasSecondFirst: boolean;
}

type Pair = readonly [bigint, bigint];

/** The curve of EIP-196 and EIP-197. */
export const BN254: Curve = {
  order: 21888242871839275222246405745257275088696311157297823662689037894645226208583n,
  b: 3n,
  // 3 / (9 + i)
  twistB: [
    19485874751759354771024239261021720505790618469301721065564631296452457478373n,
    266929791119991161246907387137283842545076965332900288569378510910307636690n,
  ],
  numberBytes: 32,
  paddingBytes: 0,
  hasSecondFirst: true,
};

/** The curve of EIP-2537. */
export const BLS12_381: Curve = {
  order:
    4002409555221667393417789825735904156556882819939007885332058136124031650490837864442687629129015664037894272559787n,
  b: 4n,
  twistB: [4n, 4n],
  numberBytes: 64,
  paddingBytes: 16,
  hasSecondFirst: false,
};

export type PointErrorCode = "padding" | "encoding" | "notOnCurve";

/** Bytes of a point of the curve, or of its twist. */
export function pointBytes(curve: Curve, isTwisted: boolean): number {
  return curve.numberBytes * (isTwisted ? 4 : 2);
}

/** The error of the first invalid number of an input; undefined when all are valid. */
export function numbersError(curve: Curve, bytes: Uint8Array): PointErrorCode | undefined {
  for (let at = 0; at < bytes.length; at += curve.numberBytes) {
    const number = bytes.subarray(at, at + curve.numberBytes);
    if (number.subarray(0, curve.paddingBytes).some((byte) => byte !== 0)) return "padding";
    if (bytesToBigint(number) >= curve.order) return "encoding";
  }
  return undefined;
}

/** The error of a point, without a check of its subgroup; zeros are the point at infinity. */
export function pointError(curve: Curve, bytes: Uint8Array): PointErrorCode | undefined {
  const error = numbersError(curve, bytes);
  if (error !== undefined || bytes.every((byte) => byte === 0)) return error;
  const numbers = Array.from({ length: bytes.length / curve.numberBytes }, (_, index) =>
    bytesToBigint(bytes.subarray(index * curve.numberBytes, (index + 1) * curve.numberBytes)),
  );
  return isOnCurve(curve, numbers) ? undefined : "notOnCurve";
}

function isOnCurve({ order, b, twistB, hasSecondFirst }: Curve, numbers: readonly bigint[]): boolean {
  const [first = 0n, second = 0n, third = 0n, fourth = 0n] = numbers;
  const isTwisted = numbers.length === 4;
  const pair = (one: bigint, other: bigint): Pair => (hasSecondFirst ? [other, one] : [one, other]);
  const [x, y, constant]: readonly Pair[] = isTwisted
    ? [pair(first, second), pair(third, fourth), twistB]
    : [
        [first, 0n],
        [second, 0n],
        [b, 0n],
      ];
  if (x === undefined || y === undefined || constant === undefined) return false;
  const left = times(y, y);
  const right = times(x, times(x, x));
  return [0, 1].every(
    (part) => ((left[part] ?? 0n) - (right[part] ?? 0n) - (constant[part] ?? 0n)) % order === 0n,
  );
}

/** Product of a + bi and c + di with i² = -1, not reduced. */
function times([a, b]: Pair, [c, d]: Pair): Pair {
  return [a * c - b * d, a * d + b * c];
}

/** Whether a point of the curve, not of its twist, lies in the subgroup of that order. */
export function hasOrder(curve: Curve, bytes: Uint8Array, order: bigint): boolean {
  const { numberBytes } = curve;
  const [x, y] = [bytes.subarray(0, numberBytes), bytes.subarray(numberBytes)].map(bytesToBigint);
  if (x === undefined || y === undefined || (x === 0n && y === 0n)) return true;
  let sum: Jacobian = [0n, 0n, 0n];
  for (const digit of order.toString(2)) {
    sum = doubled(curve, sum);
    if (digit === "1") sum = added(curve, sum, [x, y]);
  }
  return sum[2] === 0n;
}

/** The point (x/z², y/z³); the point at infinity when z is zero. */
type Jacobian = readonly [x: bigint, y: bigint, z: bigint];

function doubled({ order }: Curve, [x, y, z]: Jacobian): Jacobian {
  const [a, b] = [(x * x) % order, (y * y) % order];
  const c = (b * b) % order;
  const d = 2n * ((x + b) ** 2n - a - c);
  const e = 3n * a;
  const x3 = modulo(e * e - 2n * d, order);
  return [x3, modulo(e * (d - x3) - 8n * c, order), modulo(2n * y * z, order)];
}

function added(curve: Curve, sum: Jacobian, [x2, y2]: Pair): Jacobian {
  const { order } = curve;
  const [x1, y1, z1] = sum;
  if (z1 === 0n) return [x2, y2, 1n];
  const zz = (z1 * z1) % order;
  const h = modulo(x2 * zz - x1, order);
  const r = modulo(y2 * z1 * zz - y1, order);
  if (h === 0n) return r === 0n ? doubled(curve, sum) : [1n, 1n, 0n];
  const hh = (h * h) % order;
  const hhh = (h * hh) % order;
  const v = x1 * hh;
  const x3 = modulo(r * r - hhh - 2n * v, order);
  return [x3, modulo(r * (v - x3) - y1 * hhh, order), (z1 * h) % order];
}

function modulo(value: bigint, order: bigint): bigint {
  const rest = value % order;
  return rest < 0n ? rest + order : rest;
}
