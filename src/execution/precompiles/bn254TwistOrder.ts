import type { CurveMemory } from "./curveMemory.ts";

/**
 * Whether points of bn254's twist are of the group's order, with half of the doublings of a multiplication by the order:
 * with the curve's parameter x and the endomorphism ψ (Frobenius between the twist's maps), a point Q is if and only if
 * [x + 1]Q + ψ([x]Q) + ψ²([x]Q) = ψ³([2x]Q) (Dai, Lin, Zhao, Zhou, "Fast subgroup membership testings for G1, G2 and GT
 * on pairing-friendly curves", 2022).
 */
export class Bn254TwistOrder {
  private readonly curve: CurveMemory;
  /** Constants of ψ, for x and y of a point. */
  private readonly factorX: number;
  private readonly factorY: number;
  /** [x]Q, its images under ψ, and their sum. */
  private readonly multiple: number;
  private readonly image: number;
  private readonly sum: number;

  constructor(curve: CurveMemory) {
    const { mcl } = curve;
    this.curve = curve;
    this.factorX = curve.allocateNumbers(FACTOR_X);
    this.factorY = curve.allocateNumbers(FACTOR_Y);
    this.multiple = mcl.allocate(3 * mcl.g2.pointBytes);
    this.image = this.multiple + mcl.g2.pointBytes;
    this.sum = this.image + mcl.g2.pointBytes;
  }

  holdsFor(point: number): boolean {
    const { g2 } = this.curve.mcl;
    const { multiple, image, sum } = this;
    if (g2.isZero(point) === 1) return true;
    this.multiplyByParameter(multiple, point);
    g2.add(sum, multiple, point);
    this.applyFrobenius(image, multiple);
    g2.add(sum, sum, image);
    this.applyFrobenius(image, image);
    g2.add(sum, sum, image);
    this.applyFrobenius(image, image);
    g2.double(image, image);
    g2.subtract(sum, sum, image);
    return g2.isZero(sum) === 1;
  }

  private multiplyByParameter(result: number, point: number): void {
    const { mcl } = this.curve;
    const { g2 } = mcl;
    mcl.words().copyWithin(result >> 2, point >> 2, (point + g2.pointBytes) >> 2);
    for (const digit of PARAMETER_DIGITS) {
      g2.double(result, result);
      if (digit === 1) g2.add(result, result, point);
      if (digit === -1) g2.subtract(result, result, point);
    }
  }

  /** ψ: the conjugates of x, y and z, the first two multiplied with constants. */
  private applyFrobenius(image: number, point: number): void {
    const { mcl } = this.curve;
    const { fieldBytes } = mcl;
    const end = point + mcl.g2.pointBytes;
    if (image !== point) mcl.words().copyWithin(image >> 2, point >> 2, end >> 2);
    for (let at = fieldBytes; at < mcl.g2.pointBytes; at += 2 * fieldBytes)
      mcl.negateNumber(image + at, image + at);
    const y = image + 2 * fieldBytes;
    mcl.multiplyPairs(image, image, this.factorX);
    mcl.multiplyPairs(y, y, this.factorY);
  }
}

/** (9 + i)^((p - 1) / 3) and (9 + i)^((p - 1) / 2), where the twist is y² = x³ + 3 / (9 + i). */
const FACTOR_X: Pair = [
  21575463638280843010398324269430826099269044274347216827212613867836435027261n,
  10307601595873709700152284273816112264069230130616436755625194854815875713954n,
];
const FACTOR_Y: Pair = [
  2821565182194536844548159561693502659359617185244120367078079554186484126554n,
  3505843767911556378687030309984248845540243509899259641013678093033130930403n,
];
type Pair = readonly [bigint, bigint];

/** x = 4,965,661,367,192,848,881 in digits of 1, 0 and -1 without two neighbours other than 0, after the first digit. */
const PARAMETER_DIGITS: readonly number[] = digitsOf(4_965_661_367_192_848_881n).slice(1);

function digitsOf(value: bigint): number[] {
  if (value === 0n) return [];
  const digit = (value & 1n) === 0n ? 0n : 2n - (value & 3n);
  return [...digitsOf((value - digit) >> 1n), Number(digit)];
}
