import { type CurveMemory, whileOthersRun } from "./curveMemory.ts";
import type { Group } from "./mcl.ts";

/** What a multi-scalar multiplication needs to know about its group. */
interface GroupReader {
  readonly curve: CurveMemory;
  readonly group: Group;
  readonly encodedBytes: number;
  read(bytes: Uint8Array, at: number, point: number): boolean;
  /** Number of points and scalars that take some milliseconds together, with the checks of their orders. */
  readonly countInSlice: number;
}

/** Sums of points, each multiplied with a scalar (EIP-2537). */
export class MultiplySum {
  private readonly reader: GroupReader;
  private readonly points: number;
  private readonly scalars: number;
  private readonly sum: number;
  private readonly part: number;
  private readonly scalarBytes: number;

  constructor(reader: GroupReader) {
    const { curve, group, countInSlice } = reader;
    const bytes = countInSlice * (group.pointBytes + SCALAR_BYTES) + 2 * group.pointBytes + SCALAR_BYTES;
    this.reader = reader;
    this.points = curve.mcl.allocate(bytes);
    this.scalars = this.points + countInSlice * group.pointBytes;
    this.sum = this.scalars + countInSlice * SCALAR_BYTES;
    this.part = this.sum + group.pointBytes;
    this.scalarBytes = this.part + group.pointBytes;
  }

  /** Undefined if a point is invalid. Yields every few milliseconds. */
  *of(input: Uint8Array): Generator<undefined, Uint8Array | undefined> {
    const { curve, group, encodedBytes, countInSlice } = this.reader;
    const { mcl } = curve;
    const sliceBytes = countInSlice * (encodedBytes + SCALAR_BYTES);
    group.clear(this.sum);
    for (let at = 0; at < input.length; at += sliceBytes) {
      if (at > 0) yield* whileOthersRun(mcl, this.sum, group.pointBytes);
      const count = this.readSlice(input.subarray(at, at + sliceBytes));
      if (count === undefined) return undefined;
      if (count === 0) continue;
      group.multiplySum(this.part, this.points, this.scalars, count);
      group.add(this.sum, this.sum, this.part);
    }
    return curve.bytesOfPoint(group, this.sum);
  }

  /** Reads points and scalars, and returns how many there are without points at infinity. */
  private readSlice(input: Uint8Array): number | undefined {
    const { curve, group, encodedBytes, read } = this.reader;
    const { mcl } = curve;
    let count = 0;
    for (let at = 0; at < input.length; at += encodedBytes + SCALAR_BYTES) {
      const point = this.points + count * group.pointBytes;
      if (!read(input, at, point)) return undefined;
      if (group.isZero(point) === 1) continue;
      if (group.isValidOrder(point) !== 1) return undefined;
      const scalarAt = at + encodedBytes;
      writeBytes(mcl.words(), input.subarray(scalarAt, scalarAt + SCALAR_BYTES), this.scalarBytes);
      mcl.setScalar(this.scalars + count * SCALAR_BYTES, this.scalarBytes, SCALAR_BYTES);
      count++;
    }
    return count;
  }
}

const SCALAR_BYTES = 32;

/** Copies bytes to an address as they are. */
export function writeBytes(words: Int32Array, bytes: Uint8Array, at: number): void {
  new Uint8Array(words.buffer, at, bytes.length).set(bytes);
}
