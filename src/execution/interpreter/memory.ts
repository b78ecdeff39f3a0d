import { EVMError } from "@ethereumjs/evm";
import type { MemoryBudget } from "../memoryBudget.ts";
import type { YieldPolicy } from "../yieldPolicy.ts";
import { type ReservedBuffer, reserveBuffer } from "./reservedBuffer.ts";
import { copyInSlices, eachSlice, LONG_BYTES } from "./slices.ts";
import { readWord, writeWord } from "./words.ts";

/**
 * The memory of one frame. Starts empty and grows by doubling: the library's takes 8 KB for every call and grows by 8
 * KB at a time. Callers have already paid for growth.
 *
 * Beyond RESERVED_FROM bytes, for which no block of 34 million gas pays, it grows in place (reservedBuffer.ts).
 *
 * Operations on more than LONG_BYTES run in slices of a millisecond or two and yield in between: the first use of
 * memory costs the system a millisecond per megabyte.
 */
export class Memory {
  /** At least as long as the memory in use; the rest is zero. The name is the library's. */
  _store = EMPTY;
  private view = NO_VIEW;
  /** The buffer behind the memory if it grows in place. */
  reserved: ReservedBuffer | undefined = undefined;
  private readonly budget: MemoryBudget | undefined;

  constructor(budget?: MemoryBudget) {
    this.budget = budget;
  }

  extend(offset: number, size: number): void {
    const needed = offset + size;
    if (size === 0 || needed <= this._store.length) return;
    const length = this.take(needed);
    if (length > RESERVED_FROM) this.reserve().resize(length);
    else {
      const larger = new Uint8Array(length);
      larger.set(this._store);
      this.adopt(larger);
    }
  }

  /** True if growing to `end` takes so long that it has to be done in slices. */
  growsSlowly(end: number): boolean {
    const { length } = this._store;
    if (end <= length) return false;
    // Without growth in place, all of it is copied.
    return end > RESERVED_FROM ? end - length > LONG_BYTES : length > LONG_BYTES;
  }

  /** As extend, up to `end`. Throws OutOfTime as YieldPolicy does, like all methods that run in slices. */
  async extendInSlices(end: number, yieldPolicy: YieldPolicy): Promise<void> {
    const { length: before } = this._store;
    if (end <= before) return;
    const length = this.take(end);
    if (length > RESERVED_FROM) {
      const reserved = this.reserve();
      await eachSlice(length - before, yieldPolicy, (_, until) => reserved.resize(before + until));
      return;
    }
    const larger = new Uint8Array(length);
    await eachSlice(before, yieldPolicy, (at, until) => larger.set(this._store.subarray(at, until), at));
    this.adopt(larger);
  }

  write(offset: number, size: number, value: Uint8Array): void {
    if (size === 0) return;
    this.extend(offset, size);
    this._store.set(value, offset);
  }

  /** With `avoidCopy` a view, valid until the frame continues. */
  read(offset: number, size: number, avoidCopy?: boolean): Uint8Array {
    this.extend(offset, size);
    return avoidCopy === true
      ? this._store.subarray(offset, offset + size)
      : this._store.slice(offset, offset + size);
  }

  /** As read, always a copy. */
  async readInSlices(offset: number, size: number, yieldPolicy: YieldPolicy): Promise<Uint8Array> {
    await this.extendInSlices(offset + size, yieldPolicy);
    return copyInSlices(this.read(offset, size, true), yieldPolicy);
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

  /** Copies `size` bytes of `source` from `from` on; bytes beyond the source are zero. */
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
    yieldPolicy: YieldPolicy,
  ): Promise<void> {
    await this.extendInSlices(offset + size, yieldPolicy);
    await eachSlice(size, yieldPolicy, (at, until) => this.copy(offset + at, source, from + at, until - at));
  }

  /** Moves bytes; source and destination may overlap. */
  move(to: number, from: number, size: number): void {
    this.extend(Math.max(to, from), size);
    this._store.copyWithin(to, from, from + size);
  }

  async moveInSlices(to: number, from: number, size: number, yieldPolicy: YieldPolicy): Promise<void> {
    await this.extendInSlices(Math.max(to, from) + size, yieldPolicy);
    // Starts at the end towards which it moves, so that no slice overwrites what a later one reads.
    await eachSlice(size, yieldPolicy, (at, until) => {
      const start = to > from ? size - until : at;
      this._store.copyWithin(to + start, from + start, from + start + until - at);
    });
  }

  /** Returns the new length for `needed` bytes, and takes the growth from the budget. */
  private take(needed: number): number {
    if (needed > MEMORY_LIMIT_BYTES) throw new EVMError(EVMError.errorMessages.OUT_OF_GAS);
    const { length: before } = this._store;
    const unit = needed > RESERVED_FROM ? RESERVED_STEP_BYTES : 32;
    const whole = Math.ceil(needed / unit) * unit;
    const length =
      needed > RESERVED_FROM ? whole : Math.min(RESERVED_FROM, Math.max(FIRST_BYTES, 2 * before, whole));
    this.budget?.take(length - before);
    return length;
  }

  /** Moves the memory to a buffer that can grow in place. */
  private reserve(): ReservedBuffer {
    if (this.reserved !== undefined) return this.reserved;
    const reserved = reserveBuffer(MEMORY_LIMIT_BYTES);
    const before = this._store;
    reserved.resize(before.length);
    // A view without fixed length follows the buffer's.
    this.adopt(new Uint8Array(reserved));
    this._store.set(before);
    this.reserved = reserved;
    return reserved;
  }

  private adopt(larger: Uint8Array<ArrayBuffer>): void {
    this._store = larger;
    this.view = new DataView(larger.buffer);
  }
}

/** More than any practical amount of gas pays for. */
export const MEMORY_LIMIT_BYTES = 2 ** 32;
/** About what a block of 34 million gas pays for. */
const RESERVED_FROM = 4 * 1024 * 1024;
/** Small enough for one slice, and large enough that resizing costs little against touching it. */
const RESERVED_STEP_BYTES = 64 * 1024;
const EMPTY = new Uint8Array(0);
const NO_VIEW = new DataView(EMPTY.buffer);
const FIRST_BYTES = 512;
