import { assert } from "../primitives/assert.ts";

/*
 * Entries lie one behind the other in chunks of memory outside of the heap; a table of 32-bit positions finds them by
 * a hash of their key. An object per entry would take three to six times as much, and the garbage collector would walk
 * them all: a block of 12,000 transfers replaces 60,000 entries.
 *
 *   entry   key length u8 | value length u16 | key | value
 */
const CHUNK_BITS = 20;
const CHUNK_BYTES = 1 << CHUNK_BITS;
const ENTRY_HEADER_LENGTH = 3;
const FIRST_TABLE_SLOTS = 1 << 10;
const BYTES_PER_SLOT = 4;
/** Slots looked at for one key: whoever finds many keys with one hash gains nothing but misses. */
const PROBE_LIMIT = 32;

/** Where a value lies; a view that the next put may overwrite. */
export interface FoundBytes {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly length: number;
}

/**
 * A bounded map from bytes to bytes that forgets what was not used for long. Two generations take turns:
 * what is found in the older moves to the younger, which becomes the older when half of the limit is full.
 */
export class ByteCache {
  private readonly limitBytes: number;
  private young = new Generation();
  private old = new Generation();

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  find(key: Uint8Array): FoundBytes | undefined {
    const hash = hashOf(key);
    const recent = this.young.find(key, hash);
    if (recent !== undefined) return recent;
    const found = this.old.find(key, hash);
    if (found !== undefined) this.add(key, hash, found);
    return found;
  }

  /** Copies key (up to 255 bytes) and value (up to 65,535). */
  put(key: Uint8Array, value: FoundBytes): void {
    this.add(key, hashOf(key), value);
  }

  clear(): void {
    this.young = new Generation();
    this.old = new Generation();
  }

  private add(key: Uint8Array, hash: number, value: FoundBytes): void {
    this.young.put(key, hash, value);
    if (this.young.byteLength <= this.limitBytes / 2) return;
    this.old = this.young;
    this.young = new Generation();
  }
}

class Generation {
  private readonly chunks: Buffer[] = [];
  /** Position of an entry plus one, or 0, by hash; collisions go to the next free slot. */
  private table = new Uint32Array(FIRST_TABLE_SLOTS);
  private entries = 0;
  /** Position where the next entry goes. */
  private next = 0;

  get byteLength(): number {
    return this.next + this.table.length * BYTES_PER_SLOT;
  }

  find(key: Uint8Array, hash: number): FoundBytes | undefined {
    const position = this.table[this.slotOf(key, hash)] ?? 0;
    if (position === 0 || !this.hasKey(position - 1, key)) return undefined;
    const bytes = this.chunkAt(position - 1);
    const at = offsetOf(position - 1);
    return { bytes, start: at + ENTRY_HEADER_LENGTH + key.length, length: valueLength(bytes, at) };
  }

  put(key: Uint8Array, hash: number, value: FoundBytes): void {
    assert(key.length <= 0xff && value.length <= 0xffff, "an entry of the cache has a small key and value");
    const slot = this.slotOf(key, hash);
    const known = this.table[slot] ?? 0;
    if (known !== 0 && this.hasKey(known - 1, key)) {
      const chunk = this.chunkAt(known - 1);
      const at = offsetOf(known - 1);
      // Most changes leave the length as it is: then the value takes its old place.
      if (valueLength(chunk, at) === value.length) {
        chunk.set(
          value.bytes.subarray(value.start, value.start + value.length),
          at + ENTRY_HEADER_LENGTH + key.length,
        );
        return;
      }
    }
    this.table[slot] = this.append(key, value) + 1;
    if (known !== 0) return;
    this.entries++;
    if (this.entries * 2 > this.table.length) this.growTable();
  }

  private append(key: Uint8Array, { bytes, start, length }: FoundBytes): number {
    const size = ENTRY_HEADER_LENGTH + key.length + length;
    if (this.next + size > this.chunks.length * CHUNK_BYTES) {
      this.next = this.chunks.length * CHUNK_BYTES;
      this.chunks.push(Buffer.allocUnsafeSlow(CHUNK_BYTES));
    }
    const position = this.next;
    this.next += size;
    const chunk = this.chunkAt(position);
    const at = offsetOf(position);
    chunk[at] = key.length;
    chunk[at + 1] = length >> 8;
    chunk[at + 2] = length & 0xff;
    chunk.set(key, at + ENTRY_HEADER_LENGTH);
    chunk.set(bytes.subarray(start, start + length), at + ENTRY_HEADER_LENGTH + key.length);
    return position;
  }

  /** The slot that holds the key, else a free one, else the first of its probes: what is there is given up. */
  private slotOf(key: Uint8Array, hash: number): number {
    const mask = this.table.length - 1;
    for (let probe = 0; probe < PROBE_LIMIT; probe++) {
      const slot = (hash + probe) & mask;
      const position = this.table[slot] ?? 0;
      if (position === 0 || this.hasKey(position - 1, key)) return slot;
    }
    return hash & mask;
  }

  private hasKey(position: number, key: Uint8Array): boolean {
    const chunk = this.chunkAt(position);
    const at = offsetOf(position);
    if (chunk[at] !== key.length) return false;
    for (let i = 0; i < key.length; i++) if (chunk[at + ENTRY_HEADER_LENGTH + i] !== key[i]) return false;
    return true;
  }

  private growTable(): void {
    const before = this.table;
    this.table = new Uint32Array(before.length * 2);
    const mask = this.table.length - 1;
    for (const position of before) {
      if (position === 0) continue;
      const chunk = this.chunkAt(position - 1);
      const at = offsetOf(position - 1) + ENTRY_HEADER_LENGTH;
      const hash = hashOf(chunk.subarray(at, at + (chunk[at - ENTRY_HEADER_LENGTH] ?? 0)));
      for (let probe = 0; probe < PROBE_LIMIT; probe++) {
        const slot = (hash + probe) & mask;
        if (this.table[slot] !== 0) continue;
        this.table[slot] = position;
        break;
      }
    }
  }

  private chunkAt(position: number): Buffer {
    const chunk = this.chunks[position >>> CHUNK_BITS];
    if (chunk === undefined) throw new RangeError("no chunk there");
    return chunk;
  }
}

function offsetOf(position: number): number {
  return position & (CHUNK_BYTES - 1);
}

function valueLength(chunk: Uint8Array, at: number): number {
  return ((chunk[at + 1] ?? 0) << 8) | (chunk[at + 2] ?? 0);
}

/** FNV-1a with a final mix. */
function hashOf(key: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ (key[i] ?? 0), 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}
