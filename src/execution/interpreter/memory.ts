import { EVMError } from "@ethereumjs/evm";
import type { HeldMemory } from "../heldMemory.ts";
import { readWord, writeWord } from "./words.ts";

/**
 * The memory of one frame. Grows by doubling, from nothing: the library's takes 8 KB for every call, and grows by 8 KB
 * at a time. That it may grow has been paid for before any of these is called.
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
    if (needed > MEMORY_LIMIT_BYTES) throw new EVMError(EVMError.errorMessages.OUT_OF_GAS);
    const length = Math.max(FIRST_BYTES, 2 * this._store.length, Math.ceil(needed / 32) * 32);
    this.held?.take(length - this._store.length);
    const larger = new Uint8Array(length);
    larger.set(this._store);
    this._store = larger;
    this.view = new DataView(larger.buffer);
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

  readWord(offset: number): bigint {
    this.extend(offset, 32);
    return readWord(this.view, offset);
  }

  writeWord(offset: number, word: bigint): void {
    this.extend(offset, 32);
    writeWord(this.view, offset, word);
  }

  /** Copies `size` bytes of `source` from `from` on; what lies beyond the source is zero. */
  copy(offset: number, source: Uint8Array, from: number, size: number): void {
    this.extend(offset, size);
    const part = source.subarray(from, from + size);
    this._store.set(part, offset);
    this._store.fill(0, offset + part.length, offset + size);
  }
}

/** No gas in use pays for as much. */
export const MEMORY_LIMIT_BYTES = 2n ** 32n;
const NOTHING = new Uint8Array(0);
const NO_VIEW = new DataView(NOTHING.buffer);
const FIRST_BYTES = 512;
