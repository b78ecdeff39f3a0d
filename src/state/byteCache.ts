import { assert } from "../primitives/assert.ts";

/*
 * Entries lie one after another in chunks of memory outside the heap; a table of 32-bit positions finds them by a hash
 * of their key. An object per entry would take three to six times the memory, and the garbage collector would traverse
 * them all: a block of 12,000 transfers replaces 60,000 entries.
 *
 *   entry   key length u8 | used u8 | value length u16 | key | value
 */
const CHUNK_BITS = 20;
const CHUNK_BYTES = 1 << CHUNK_BITS;
const HEADER_LENGTH = 4;
/** Most bytes that survive when a chunk is cleared: with more, a cache in full use would free no room. */
const SURVIVING_BYTES = CHUNK_BYTES / 2;
const SMALLEST_TABLE = 1 << 10;
/** Slots probed for one key: an attacker who finds many keys with one hash only causes cache misses. */
const PROBE_LIMIT = 32;
/** A slot whose entry was dropped, or moved to the next table; probing continues after it. */
const GONE = 0xffffffff;
/** Slots of a full table that each new entry moves to the next one: all are moved before that one is full. */
const MOVED_SLOTS = 8;

/** Location of a value, valid until the next put. */
interface FoundBytes {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly length: number;
}

/**
 * A bounded map from bytes to bytes. At the limit it clears the chunk that was written longest ago, and keeps its entries
 * that were used since. A full table is replaced little by little: for half a million entries it would take a third of a second
 * at once.
 */
export class ByteCache {
  private readonly chunkLimit: number;
  private readonly chunks: Uint8Array[] = [];
  /** Bytes used of each chunk. */
  private readonly fill: number[] = [];
  private current = -1;
  /** Position of an entry plus one, by hash; 0 where there never was one, GONE where it was dropped. */
  private table = new Uint32Array(SMALLEST_TABLE);
  /** Slots of the table that are not 0. */
  private takenSlots = 0;
  /** Entries in both tables. */
  private entries = 0;
  /** The table before, whose entries are being moved; undefined when all are. */
  private former: Uint32Array<ArrayBuffer> | undefined = undefined;
  private movedSlots = 0;
  /** The table in which slotOf or slotAt has found its slot. */
  private foundIn = this.table;

  /** The cache has at least one chunk; the table takes some 12 bytes an entry in addition. */
  constructor(limitBytes: number) {
    this.chunkLimit = Math.max(1, Math.floor(limitBytes / CHUNK_BYTES));
  }

  /** Finds the value of the first `keyLength` bytes of `key`: callers reuse one array for their keys. */
  find(key: Uint8Array, keyLength = key.length): FoundBytes | undefined {
    const slot = this.slotOf(key, keyLength, hashOf(key, 0, keyLength));
    if (slot < 0) return undefined;
    const position = (this.foundIn[slot] ?? 0) - 1;
    const bytes = this.chunkAt(position);
    const at = offsetOf(position);
    bytes[at + 1] = 1;
    return { bytes, start: at + HEADER_LENGTH + keyLength, length: valueLength(bytes, at) };
  }

  /** Copies key (up to 255 bytes) and value (up to 65,535). */
  put(key: Uint8Array, value: FoundBytes, keyLength = key.length): void {
    assert(keyLength <= 0xff && value.length <= 0xffff, "an entry of the cache has a small key and value");
    const hash = hashOf(key, 0, keyLength);
    const known = this.slotOf(key, keyLength, hash);
    // Most changes keep the length: then the value is overwritten in place.
    if (known >= 0 && this.overwrite((this.foundIn[known] ?? 0) - 1, keyLength, value)) return;
    const position = this.append(key, keyLength, value);
    // makeRoom may have moved or dropped the old entry.
    const slot = known >= 0 ? this.slotOf(key, keyLength, hash) : -1;
    if (slot >= 0) this.foundIn[slot] = position + 1;
    else {
      this.makeTable();
      this.enter(hash, position);
    }
  }

  /** Keeps the memory of a small cache: with every new head there would be more of it for the garbage collector. */
  clear(): void {
    if (this.current < 0) return;
    this.chunks.length = 1;
    this.fill.length = 1;
    this.fill[0] = 0;
    this.current = 0;
    if (this.table.length === SMALLEST_TABLE) this.table.fill(0);
    else this.table = new Uint32Array(SMALLEST_TABLE);
    this.takenSlots = 0;
    this.entries = 0;
    this.former = undefined;
    this.foundIn = this.table;
  }

  private overwrite(position: number, keyLength: number, value: FoundBytes): boolean {
    const chunk = this.chunkAt(position);
    const at = offsetOf(position);
    if (valueLength(chunk, at) !== value.length) return false;
    chunk[at + 1] = 1;
    copyValue(value, chunk, at + HEADER_LENGTH + keyLength);
    return true;
  }

  private append(key: Uint8Array, keyLength: number, value: FoundBytes): number {
    const size = HEADER_LENGTH + keyLength + value.length;
    if (this.current < 0 || (this.fill[this.current] ?? 0) + size > CHUNK_BYTES) this.makeRoom();
    const at = this.fill[this.current] ?? 0;
    this.fill[this.current] = at + size;
    const position = this.current * CHUNK_BYTES + at;
    const chunk = this.chunkAt(position);
    chunk[at] = keyLength;
    chunk[at + 1] = 0;
    chunk[at + 2] = value.length >> 8;
    chunk[at + 3] = value.length & 0xff;
    for (let i = 0; i < keyLength; i++) chunk[at + HEADER_LENGTH + i] = key[i] ?? 0;
    copyValue(value, chunk, at + HEADER_LENGTH + keyLength);
    return position;
  }

  /** Makes the current chunk one with room for an entry of any size. */
  private makeRoom(): void {
    if (this.chunks.length < this.chunkLimit) {
      this.current = this.chunks.length;
      this.chunks.push(new Uint8Array(CHUNK_BYTES));
      this.fill.push(0);
      return;
    }
    this.current = (this.current + 1) % this.chunks.length;
    this.fill[this.current] = this.compact(this.current);
  }

  /** Moves the surviving entries of a chunk to its beginning and drops the others; returns where they end. */
  private compact(index: number): number {
    const first = index * CHUNK_BYTES;
    const chunk = this.chunkAt(first);
    const end = this.fill[index] ?? 0;
    let kept = 0;
    for (let at = 0, size = 0; at < end; at += size) {
      const keyLength = chunk[at] ?? 0;
      size = HEADER_LENGTH + keyLength + valueLength(chunk, at);
      const slot = this.slotAt(first + at, hashOf(chunk, at + HEADER_LENGTH, keyLength));
      if (slot < 0) continue;
      if (chunk[at + 1] === 0 || kept + size > SURVIVING_BYTES) {
        this.foundIn[slot] = GONE;
        this.entries--;
        continue;
      }
      chunk.copyWithin(kept, at, at + size);
      chunk[kept + 1] = 0;
      this.foundIn[slot] = first + kept + 1;
      kept += size;
    }
    return kept;
  }

  /** The slot of the entry of `key` in `foundIn`; -1 when there is none. */
  private slotOf(key: Uint8Array, keyLength: number, hash: number): number {
    const slot = this.slotOfKeyIn(this.table, key, keyLength, hash);
    return slot >= 0 || this.former === undefined
      ? slot
      : this.slotOfKeyIn(this.former, key, keyLength, hash);
  }

  private slotOfKeyIn(
    table: Uint32Array<ArrayBuffer>,
    key: Uint8Array,
    keyLength: number,
    hash: number,
  ): number {
    const mask = table.length - 1;
    for (let probe = 0; probe < PROBE_LIMIT; probe++) {
      const slot = (hash + probe) & mask;
      const position = table[slot] ?? 0;
      if (position === 0) return -1;
      if (position !== GONE && this.hasKey(position - 1, key, keyLength)) {
        this.foundIn = table;
        return slot;
      }
    }
    return -1;
  }

  /** The slot with this position in `foundIn`; -1 when there is none any more. */
  private slotAt(position: number, hash: number): number {
    const slot = this.slotOfPositionIn(this.table, position, hash);
    return slot >= 0 || this.former === undefined ? slot : this.slotOfPositionIn(this.former, position, hash);
  }

  private slotOfPositionIn(table: Uint32Array<ArrayBuffer>, position: number, hash: number): number {
    const mask = table.length - 1;
    for (let probe = 0; probe < PROBE_LIMIT; probe++) {
      const slot = (hash + probe) & mask;
      if (table[slot] === position + 1) {
        this.foundIn = table;
        return slot;
      }
      if (table[slot] === 0) return -1;
    }
    return -1;
  }

  /** Puts a new position into the first free slot; replaces the first one when all probed slots are taken. */
  private enter(hash: number, position: number): void {
    const { table } = this;
    const mask = table.length - 1;
    for (let probe = 0; probe < PROBE_LIMIT; probe++) {
      const slot = (hash + probe) & mask;
      const taken = table[slot] ?? 0;
      if (taken !== 0 && taken !== GONE) continue;
      if (taken === 0) this.takenSlots++;
      this.entries++;
      table[slot] = position + 1;
      return;
    }
    table[hash & mask] = position + 1;
  }

  /** Makes a table for one more entry: moves some entries of the former one, and begins the next when this one is half full. */
  private makeTable(): void {
    this.moveSome();
    if (this.takenSlots * 2 < this.table.length) return;
    this.former = this.table;
    this.movedSlots = 0;
    this.table = new Uint32Array(this.former.length * (this.entries * 3 > this.former.length ? 2 : 1));
    this.takenSlots = 0;
  }

  private moveSome(): void {
    const { former } = this;
    if (former === undefined) return;
    const until = Math.min(this.movedSlots + MOVED_SLOTS, former.length);
    for (; this.movedSlots < until; this.movedSlots++) {
      const position = former[this.movedSlots] ?? 0;
      if (position === 0 || position === GONE) continue;
      const chunk = this.chunkAt(position - 1);
      const at = offsetOf(position - 1);
      former[this.movedSlots] = GONE;
      this.entries--;
      this.enter(hashOf(chunk, at + HEADER_LENGTH, chunk[at] ?? 0), position - 1);
    }
    if (until === former.length) this.former = undefined;
  }

  private hasKey(position: number, key: Uint8Array, keyLength: number): boolean {
    const chunk = this.chunkAt(position);
    const at = offsetOf(position);
    if (chunk[at] !== keyLength) return false;
    for (let i = 0; i < keyLength; i++) if (chunk[at + HEADER_LENGTH + i] !== key[i]) return false;
    return true;
  }

  private chunkAt(position: number): Uint8Array {
    const chunk = this.chunks[position >>> CHUNK_BITS];
    if (chunk === undefined) throw new RangeError("no chunk there");
    return chunk;
  }
}

function offsetOf(position: number): number {
  return position & (CHUNK_BYTES - 1);
}

function copyValue({ bytes, start, length }: FoundBytes, into: Uint8Array, at: number): void {
  into.set(start === 0 && length === bytes.length ? bytes : bytes.subarray(start, start + length), at);
}

function valueLength(chunk: Uint8Array, at: number): number {
  return ((chunk[at + 2] ?? 0) << 8) | (chunk[at + 3] ?? 0);
}

/** FNV-1a with a final mix. */
function hashOf(bytes: Uint8Array, start: number, length: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < start + length; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}
