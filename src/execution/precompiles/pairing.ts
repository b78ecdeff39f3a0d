import { booleanWord } from "./contract.ts";
import { type CurveMemory, whileOthersRun } from "./curveMemory.ts";
import type { Mcl } from "./mcl.ts";

/** The pairs of points of a call, which share the squarings of their pairings. */
export class Pairing {
  private readonly curve: CurveMemory;
  private readonly mcl: Mcl;
  private readonly isInGroups: (point: number, point2: number) => boolean;
  private readonly points: number;
  private readonly points2: number;
  private readonly product: number;
  private readonly part: number;
  private readonly bytes: number;

  /** `isInGroups` checks the orders of two points of the curves. */
  constructor(curve: CurveMemory, isInGroups: (point: number, point2: number) => boolean) {
    const { mcl } = curve;
    const { fieldBytes, g1, g2 } = mcl;
    const bytes1 = PAIRS * g1.pointBytes;
    const bytes2 = PAIRS * g2.pointBytes;
    this.bytes = bytes1 + bytes2 + 24 * fieldBytes;
    this.curve = curve;
    this.mcl = mcl;
    this.isInGroups = isInGroups;
    this.points = mcl.allocate(this.bytes);
    this.points2 = this.points + bytes1;
    this.product = this.points2 + bytes2;
    this.part = this.product + 12 * fieldBytes;
  }

  /**
   * The word 1 if the product of the pairings of the points in `input` is one, else 0; undefined if a point is invalid.
   * Yields every few milliseconds.
   */
  *check(input: Uint8Array): Generator<undefined, Uint8Array | undefined> {
    const { bytes1, bytes2 } = this.curve;
    const { pairing } = this.mcl;
    pairing.setNumber(this.product, 1);
    let isEmpty = true;
    for (let at = 0; at < input.length; at += PAIRS * (bytes1 + bytes2)) {
      const count = this.read(input, at);
      if (count === undefined) return undefined;
      yield* whileOthersRun(this.mcl, this.points, this.bytes);
      if (count === 0) continue;
      isEmpty = false;
      pairing.millerLoops(this.part, this.points, this.points2, count);
      pairing.multiply(this.product, this.product, this.part);
      yield* whileOthersRun(this.mcl, this.points, this.bytes);
    }
    if (isEmpty) return booleanWord(true);
    pairing.finish(this.part, this.product);
    return booleanWord(pairing.isOne(this.part) === 1);
  }

  /** Reads some pairs and returns how many have no point at infinity; undefined if a point is invalid. */
  private read(input: Uint8Array, from: number): number | undefined {
    const { curve, mcl } = this;
    const { g1, g2 } = mcl;
    const pairBytes = curve.bytes1 + curve.bytes2;
    const end = Math.min(input.length, from + PAIRS * pairBytes);
    let count = 0;
    for (let at = from; at < end; at += pairBytes) {
      const point = this.points + count * g1.pointBytes;
      const point2 = this.points2 + count * g2.pointBytes;
      if (!curve.readPoint(input, at, point)) return undefined;
      if (!curve.readPoint2(input, at + curve.bytes1, point2)) return undefined;
      if (!this.isInGroups(point, point2)) return undefined;
      if (g1.isZero(point) === 0 && g2.isZero(point2) === 0) count++;
    }
    return count;
  }
}

/** Pairs in a slice: their pairings take some 5 ms together, and the checks of their points 2 ms. */
const PAIRS = 6;
