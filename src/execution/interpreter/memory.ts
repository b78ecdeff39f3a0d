import { EVMError } from "@ethereumjs/evm";
import type { HeldMemory } from "../heldMemory.ts";
import type { Pace } from "../pace.ts";
import { eachSlice, LONG_BYTES } from "./slices.ts";
import { readWord, writeWord } from "./words.ts";

/**
 * The memory of one frame. Grows by doubling, from nothing: the library's takes 8 KB for every call, and grows by 8 KB
 * at a time. That it may grow has been paid for before any of these is called.
 *
 * What touches more than LONG_BYTES goes in slices, each of a millisecond or two, and rests in between as the pace says:
 * memory that is used for the first time takes the system a millisecond for each megabyte.
 */
export class Memory {
  /** At least as long as what is in use; the rest is zero. The name is the library's. */
  _store = NOTHING;
  private view = NO_VIEW;
  private readonly held: HeldMemory | undefined;

  constructor(held?: HeldMemory) {
    this.held = held;
  }

  extend(offset: number, size: number): void {
    const needed = offset + size;
    if (size === 0 || needed <= this._store.length) return;
    const larger = this.allocate(needed);
    larger.set(this._store);
    this.adopt(larger);
  }

  /** Whether to reach as far as `end` takes so long that it has to be done in slices: more than LONG_BYTES would move. */
  growsSlowly(end: number): boolean {
    const { length } = this._store;
    return length > LONG_BYTES && end > length;
  }

  /** As extend, up to `end`. Throws OutOfTime, as all that goes in slices does, when the pace says so. */
  async extendInSlices(end: number, pace: Pace): Promise<void> {
    if (end <= this._store.length) return;
    const larger = this.allocate(end);
    await eachSlice(this._store.length, pace, (at, until) => larger.set(this._store.subarray(at, until), at));
    this.adopt(larger);
  }

  write(offset: number, size: number, value: Uint8Array): void {
    if (size === 0) return;
    this.extend(offset, size);
    this._store.set(value, offset);
  }

  /** With `avoidCopy` a view, good until the frame goes on. */
  read(offset: number, size: number, avoidCopy?: boolean): Uint8Array {
    this.extend(offset, size);
    return avoidCopy === true
      ? this._store.subarray(offset, offset + size)
      : this._store.slice(offset, offset + size);
  }

  async readInSlices(offset: number, size: number, pace: Pace): Promise<Uint8Array> {
    await this.extendInSlices(offset + size, pace);
    const bytes = new Uint8Array(size);
    await eachSlice(size, pace, (at, until) =>
      bytes.set(this._store.subarray(offset + at, offset + until), at),
    );
    return bytes;
  }

  readWord(offset: number): bigint {
    this.extend(offset, 32);
    return readWord(this.view, offset);
  }

  writeWord(offset: number, word: bigint): void {
    this.extend(offset, 32);
    writeWord(this.view, offset, word);
  }

  writeByte(offset: number, byte: number): void {
    this.extend(offset, 1);
    this._store[offset] = byte;
  }

  /** Copies `size` bytes of `source` from `from` on; what lies beyond the source is zero. */
  copy(offset: number, source: Uint8Array, from: number, size: number): void {
    this.extend(offset, size);
    const part = source.subarray(from, from + size);
    this._store.set(part, offset);
    this._store.fill(0, offset + part.length, offset + size);
  }

  async copyInSlices(
    offset: number,
    source: Uint8Array,
    { from, size }: { readonly from: number; readonly size: number },
    pace: Pace,
  ): Promise<void> {
    await this.extendInSlices(offset + size, pace);
    await eachSlice(size, pace, (at, until) => this.copy(offset + at, source, from + at, until - at));
  }

  /** As if by way of a copy: both places may overlap. */
  move(to: number, from: number, size: number): void {
    this.extend(Math.max(to, from), size);
    this._store.copyWithin(to, from, from + size);
  }

  async moveInSlices(to: number, from: number, size: number, pace: Pace): Promise<void> {
    await this.extendInSlices(Math.max(to, from) + size, pace);
    // From the end that lies ahead, so that no slice overwrites what a later one reads.
    await eachSlice(size, pace, (at, until) => {
      const start = to > from ? size - until : at;
      this._store.copyWithin(to + start, from + start, from + start + until - at);
    });
  }

  private allocate(needed: number): Uint8Array<ArrayBuffer> {
    if (needed > MEMORY_LIMIT_BYTES) throw new EVMError(EVMError.errorMessages.OUT_OF_GAS);
    const length = Math.max(FIRST_BYTES, 2 * this._store.length, Math.ceil(needed / 32) * 32);
    this.held?.take(length - this._store.length);
    return new Uint8Array(length);
  }

  private adopt(larger: Uint8Array<ArrayBuffer>): void {
    this._store = larger;
    this.view = new DataView(larger.buffer);
  }
}

/** No gas in use pays for as much. */
export const MEMORY_LIMIT_BYTES = 2n ** 32n;
const NOTHING = new Uint8Array(0);
const NO_VIEW = new DataView(NOTHING.buffer);
const FIRST_BYTES = 512;
