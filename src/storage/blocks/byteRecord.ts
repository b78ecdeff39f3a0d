import { assert } from "../../primitives/assert.ts";
import { copyInSteps, type Steps } from "../../primitives/steps.ts";

/**
 * Writes a stored record field by field. Whole numbers are LEB128 (seven bits a byte, lowest first): most are small.
 * RecordReader reads the fields in the same order.
 */
export class RecordWriter {
  private buffer: Uint8Array;
  private length = 0;

  constructor(expectedBytes = 256) {
    this.buffer = new Uint8Array(expectedBytes);
  }

  byte(value: number): void {
    this.reserve(1);
    this.buffer[this.length++] = value;
  }

  /** A whole number from 0 to 2^53 - 1. */
  number(value: number): void {
    assert(Number.isSafeInteger(value) && value >= 0, "a stored number is a safe integer");
    this.reserve(LONGEST_NUMBER_BYTES);
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.buffer[this.length++] = rest;
  }

  /** A whole number of any size, such as gas; one below 2^53 is written as `number` writes it. */
  amount(value: bigint): void {
    assert(value >= 0n, "a stored amount is not negative");
    let rest = value;
    for (; rest > MAX_SAFE; rest >>= 7n) this.byte(Number(rest & 0x7fn) | 0x80);
    this.number(Number(rest));
  }

  /** Bytes whose length the reader knows. */
  fixed(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Bytes with a length prefix. */
  sized(bytes: Uint8Array): void {
    this.number(bytes.length);
    this.fixed(bytes);
  }

  /** Like `sized`, in steps: the bytes may be megabytes. The writer was made with room for them. */
  *sizedInSteps(bytes: Uint8Array): Steps<void> {
    this.number(bytes.length);
    this.reserve(bytes.length);
    yield* copyInSteps(this.buffer, this.length, bytes);
    this.length += bytes.length;
  }

  /** Returns the written bytes, as a view: later writes may go to other memory. */
  finish(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  private reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.buffer.length) return;
    const larger = new Uint8Array(Math.max(needed, this.buffer.length * 2));
    larger.set(this.buffer.subarray(0, this.length));
    this.buffer = larger;
  }
}

const LONGEST_NUMBER_BYTES = 8;
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Reads what RecordWriter wrote. The record's checksum was valid, so a field that does not fit is a bug. */
export class RecordReader {
  /** The whole record. */
  readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Where the next field begins. */
  get position(): number {
    return this.at;
  }

  /** Goes on at a position that the reader had before. */
  goTo(position: number): void {
    this.at = position;
  }

  byte(): number {
    const value = this.bytes[this.at++];
    assert(value !== undefined, "a stored record ends too early");
    return value;
  }

  number(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
  }

  /** What `amount` of the writer wrote. */
  amount(): bigint {
    const start = this.at;
    const rounded = this.number();
    if (rounded <= Number.MAX_SAFE_INTEGER) return BigInt(rounded);
    let value = 0n;
    for (const byte of this.bytes.subarray(start, this.at).toReversed())
      value = (value << 7n) | BigInt(byte & 0x7f);
    return value;
  }

  /** A view of the next `length` bytes. */
  fixed(length: number): Uint8Array {
    const from = this.skip(length);
    return this.bytes.subarray(from, this.at);
  }

  sized(): Uint8Array {
    return this.fixed(this.number());
  }

  /** Skips `length` bytes; returns where they began. */
  skip(length: number): number {
    const from = this.at;
    this.at += length;
    assert(this.at <= this.bytes.length, "a stored record ends too early");
    return from;
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }
}
