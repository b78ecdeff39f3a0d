import type { Steps } from "../../primitives/steps.ts";
import { BlockRemoved } from "../../types/blockRemoved.ts";
import { missing, openEntry, openEntryInSteps } from "../checksum.ts";
import type { DatabaseReads } from "../database.ts";
import { isWithin, readHistoryStart } from "../historyStart.ts";
import { numberInKey } from "../keys.ts";
import { RecordReader } from "./byteRecord.ts";

/**
 * Number of transactions, or receipts, of a block that are stored in one chunk: one transaction of an old block of 12,000
 * takes a read of some 15 KB, not of 1.6 MB.
 */
export const CHUNK_TRANSACTIONS = 128;

/** Number of chunks for `count` transactions or receipts. */
export function chunksOf(count: number): number {
  return Math.ceil(count / CHUNK_TRANSACTIONS);
}

export function chunkOf<T>(items: readonly T[], chunk: number): readonly T[] {
  return items.slice(chunk * CHUNK_TRANSACTIONS, (chunk + 1) * CHUNK_TRANSACTIONS);
}

/**
 * The chunk that is stored under `key`, from its beginning. `what` names it in errors about damage. Throws BlockRemoved when
 * its block lies before the start of the history.
 */
export function openChunk(database: DatabaseReads, key: Uint8Array, what: () => string): RecordReader {
  const sealed = database.get(key);
  if (sealed === undefined) throw missingChunk(database, key, what);
  return new RecordReader(openEntry(key, sealed, what));
}

/** Like openChunk, in steps. */
export function* openChunkInSteps(
  database: DatabaseReads,
  key: Uint8Array,
  what: () => string,
): Steps<RecordReader> {
  const sealed = database.get(key);
  if (sealed === undefined) throw missingChunk(database, key, what);
  return new RecordReader(yield* openEntryInSteps(key, sealed, what));
}

/** The start of the history moves before anything is removed, so a reader of a gap finds the newer start, too. */
function missingChunk(database: DatabaseReads, key: Uint8Array, what: () => string): Error {
  const number = numberInKey(key);
  return isWithin(readHistoryStart(database), number) ? missing(what()) : new BlockRemoved(number);
}

/**
 * An opened chunk, from which single transactions or receipts are looked up. Each is decoded at its first lookup, and kept:
 * a caller that reads one of the 128 does not pay for the others, nor for the chunk again when it reads the next one.
 */
export class OpenedChunk<T> {
  readonly #reader: RecordReader;
  readonly #items: ChunkItems<T>;
  /** Where the items begin, up to the last one looked up and the one after it. */
  readonly #starts: number[];
  readonly #decoded: (T | undefined)[] = [];

  /** `reader` is where the first item begins. */
  constructor(reader: RecordReader, items: ChunkItems<T>) {
    this.#reader = reader;
    this.#items = items;
    this.#starts = [reader.position];
  }

  /** Memory of the chunk, without that of decoded items, which are views of it. */
  get bytes(): number {
    return this.#reader.bytes.length + OPENED_BYTES;
  }

  /** The item at this index of the chunk, if it was read before. */
  known(index: number): T | undefined {
    return this.#decoded[index];
  }

  /** The item at this index of the chunk, which has more items than that. */
  read(index: number): T {
    const reader = this.#reader;
    const starts = this.#starts;
    for (let next = starts.length; next <= index; next++) {
      reader.goTo(starts[next - 1] as number);
      this.#items.pass(reader, next - 1);
      starts.push(reader.position);
    }
    reader.goTo(starts[index] as number);
    const item = this.#items.read(reader, index);
    this.#decoded[index] = item;
    return item;
  }
}

/** Approximate memory of the places of 128 items. */
const OPENED_BYTES = 4096;

/** How to read the items of a chunk. `pass` skips an item without decoding it, and is called once for each, in order. */
interface ChunkItems<T> {
  read(reader: RecordReader, index: number): T;
  pass(reader: RecordReader, index: number): void;
}
