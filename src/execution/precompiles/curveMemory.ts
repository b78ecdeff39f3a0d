import { AssertionFailed } from "../../primitives/assert.ts";
import { bigintToFixedBytes, bytesToBigint } from "../../primitives/quantity.ts";
import type { Group, Mcl } from "./mcl.ts";

/** How precompiled contracts encode a curve's points: numbers are big-endian, and points of zeros are at infinity. */
interface Encoding {
  readonly modulus: bigint;
  /** Bytes of a number in the input; those beyond the field's are zero, and come first. */
  readonly numberBytes: number;
  /** Whether the input has the second number of a pair first. */
  readonly hasSecondFirst: boolean;
}

/**
 * Moves points between the bytes of precompiled contracts and a curve's memory. The Montgomery form is made and undone by
 * multiplying with constants.
 */
export class CurveMemory {
  readonly mcl: Mcl;
  readonly bytes1: number;
  readonly bytes2: number;
  private readonly limbs: number;
  private readonly numberBytes: number;
  private readonly paddingBytes: number;
  /** The modulus, 32 bits each, the least significant first. */
  private readonly modulus: Uint32Array;
  private readonly hasSecondFirst: boolean;
  /** Addresses of R² and of the number one, both as they are, and of R, which is one in Montgomery form. */
  private readonly squareR: number;
  private readonly plainOne: number;
  private readonly one: number;
  private readonly scratch: number;

  constructor(mcl: Mcl, { modulus, numberBytes, hasSecondFirst }: Encoding) {
    this.mcl = mcl;
    this.limbs = mcl.numberBytes / 4;
    this.numberBytes = numberBytes;
    this.paddingBytes = numberBytes - mcl.numberBytes;
    this.bytes1 = 2 * numberBytes;
    this.bytes2 = 4 * numberBytes;
    this.hasSecondFirst = hasSecondFirst;
    this.modulus = limbsOf(modulus, this.limbs);
    const R = 1n << BigInt(8 * mcl.numberBytes);
    this.squareR = this.allocatePlain((R * R) % modulus);
    this.plainOne = this.allocatePlain(1n);
    this.one = mcl.allocate(mcl.fieldBytes);
    this.scratch = mcl.allocate(mcl.fieldBytes);
    mcl.setNumber(this.one, 1);
    if (this.plainAt(this.one) !== R % modulus)
      throw new AssertionFailed("the package has another Montgomery form");
  }

  /** Reads a point of G1. False if it is not on the curve, or a number is too large. */
  readPoint(bytes: Uint8Array, at: number, point: number): boolean {
    const { fieldBytes, g1 } = this.mcl;
    if (isZero(bytes, at, at + this.bytes1)) return isCleared(g1, point);
    if (!this.readNumber(bytes, at, point)) return false;
    if (!this.readNumber(bytes, at + this.numberBytes, point + fieldBytes)) return false;
    this.copyNumber(point + 2 * fieldBytes, this.one);
    return g1.isValid(point) === 1;
  }

  /** Reads a point of G2 likewise; its order is not checked. */
  readPoint2(bytes: Uint8Array, at: number, point: number): boolean {
    const { fieldBytes, g2 } = this.mcl;
    if (isZero(bytes, at, at + this.bytes2)) return isCleared(g2, point);
    if (!this.readPair(bytes, at, point)) return false;
    if (!this.readPair(bytes, at + 2 * this.numberBytes, point + 2 * fieldBytes)) return false;
    this.copyNumber(point + 4 * fieldBytes, this.one);
    this.mcl.words().fill(0, (point + 5 * fieldBytes) >> 2, (point + 6 * fieldBytes) >> 2);
    return g2.isValid(point) === 1;
  }

  /** Reads a number of the field. False if it is not below the modulus. */
  readNumber(bytes: Uint8Array, at: number, number: number): boolean {
    const from = at + this.paddingBytes;
    if (!isZero(bytes, at, from)) return false;
    const words = this.mcl.words();
    const first = number >> 2;
    let isBelow = false;
    let isDecided = false;
    for (let limb = this.limbs - 1, byte = from; limb >= 0; limb--, byte += 4) {
      const value =
        ((bytes[byte] as number) << 24) |
        ((bytes[byte + 1] as number) << 16) |
        ((bytes[byte + 2] as number) << 8) |
        (bytes[byte + 3] as number);
      words[first + limb] = value;
      if (isDecided) continue;
      const limit = this.modulus[limb] as number;
      isDecided = value >>> 0 !== limit;
      isBelow = value >>> 0 < limit;
    }
    if (!isBelow) return false;
    this.mcl.multiplyNumbers(number, number, this.squareR);
    return true;
  }

  /** Reads two numbers of the field: a number of its extension. */
  readPair(bytes: Uint8Array, at: number, pair: number): boolean {
    const { fieldBytes } = this.mcl;
    const second = this.hasSecondFirst ? 0 : fieldBytes;
    return (
      this.readNumber(bytes, at, pair + fieldBytes - second) &&
      this.readNumber(bytes, at + this.numberBytes, pair + second)
    );
  }

  /** The bytes of a point of G1 or G2, which is normalized in place. */
  bytesOfPoint(group: Group, point: number): Uint8Array {
    const { fieldBytes } = this.mcl;
    const numbers = (2 * group.pointBytes) / (3 * fieldBytes);
    const bytes = new Uint8Array(numbers * this.numberBytes);
    if (group.isZero(point) === 1) return bytes;
    group.normalize(point, point);
    for (let index = 0; index < numbers; index++) {
      const place = this.hasSecondFirst && numbers === 4 ? index ^ 1 : index;
      this.writeNumber(point + place * fieldBytes, bytes, index * this.numberBytes + this.paddingBytes);
    }
    return bytes;
  }

  /** Constants of the field, one after the other, in memory for good. */
  allocateNumbers(values: readonly bigint[]): number {
    const { fieldBytes } = this.mcl;
    const first = this.mcl.allocate(values.length * fieldBytes);
    values.forEach((value, index) => {
      const number = first + index * fieldBytes;
      this.mcl.words().set(limbsOf(value, this.limbs), number >> 2);
      this.mcl.multiplyNumbers(number, number, this.squareR);
    });
    return first;
  }

  private writeNumber(number: number, bytes: Uint8Array, at: number): void {
    this.mcl.multiplyNumbers(this.scratch, number, this.plainOne);
    const words = this.mcl.words();
    const first = this.scratch >> 2;
    for (let limb = this.limbs - 1, byte = at; limb >= 0; limb--, byte += 4) {
      const value = words[first + limb] as number;
      bytes[byte] = value >>> 24;
      bytes[byte + 1] = value >>> 16;
      bytes[byte + 2] = value >>> 8;
      bytes[byte + 3] = value;
    }
  }

  private copyNumber(to: number, from: number): void {
    this.mcl.words().copyWithin(to >> 2, from >> 2, (from >> 2) + this.limbs);
  }

  private allocatePlain(value: bigint): number {
    const number = this.mcl.allocate(this.mcl.fieldBytes);
    this.mcl.words().set(limbsOf(value, this.limbs), number >> 2);
    return number;
  }

  private plainAt(number: number): bigint {
    const words = this.mcl.words().slice(number >> 2, (number >> 2) + this.limbs);
    return bytesToBigint(new Uint8Array(words.buffer).reverse());
  }
}

/** Copies the memory of one call while others may run. */
export function* whileOthersRun(mcl: Mcl, from: number, bytes: number): Generator<undefined, void> {
  const kept = mcl.words().slice(from >> 2, (from + bytes) >> 2);
  yield;
  mcl.words().set(kept, from >> 2);
}

function isCleared(group: Group, point: number): true {
  group.clear(point);
  return true;
}

function isZero(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] !== 0) return false;
  return true;
}

function limbsOf(value: bigint, limbs: number): Uint32Array {
  return new Uint32Array(
    bigintToFixedBytes(value, 4 * limbs)
      .reverse()
      .slice().buffer,
  );
}
