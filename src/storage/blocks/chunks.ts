import type { Steps } from "../../primitives/steps.ts";
import { missing, openEntry, openEntryInSteps } from "../checksum.ts";
import type { Database } from "../database.ts";
import { RecordReader } from "./byteRecord.ts";

/**
 * The transactions of a block, and its receipts, are stored in chunks of so many: one transaction of an old block of 12,000 takes
 * a read of some 15 KB, not of 1.6 MB.
 */
export const CHUNK_TRANSACTIONS = 128;

/** Number of chunks for `count` transactions or receipts. */
export function chunksOf(count: number): number {
  return Math.ceil(count / CHUNK_TRANSACTIONS);
}

export function chunkOf<T>(items: readonly T[], chunk: number): readonly T[] {
  return items.slice(chunk * CHUNK_TRANSACTIONS, (chunk + 1) * CHUNK_TRANSACTIONS);
}

/** The chunk that is stored under `key`, from its beginning. `what` is what is damaged or missing otherwise. */
export function openChunk(database: Database, key: Uint8Array, what: () => string): RecordReader {
  const sealed = database.get(key);
  if (sealed === undefined) throw missing(what());
  return new RecordReader(openEntry(key, sealed, what));
}

/** As openChunk, in steps. */
export function* openChunkInSteps(
  database: Database,
  key: Uint8Array,
  what: () => string,
): Steps<RecordReader> {
  const sealed = database.get(key);
  if (sealed === undefined) throw missing(what());
  return new RecordReader(yield* openEntryInSteps(key, sealed, what));
}

/** What a lookup of one transaction or receipt reads: all of its chunk, or the one alone where the chunk is large. */
export interface ReadItems<T> {
  readonly items: readonly T[];
  /** Index in the block of the first of them. */
  readonly from: number;
  /** Bytes of the chunk, of which the items are views. */
  readonly chunkBytes: number;
}

/** How a chunk's items are read one after another; `pass` goes past one without decoding it. */
export interface ChunkItems<T> {
  readonly reader: Pick<RecordReader, "length">;
  read(): T;
  pass(): void;
}

/** Item `index` of a block that has `count` of them, from its chunk, with its neighbours unless they are large. */
export function readItemsAt<T>(
  { reader, read, pass }: ChunkItems<T>,
  index: number,
  count: number,
): ReadItems<T> {
  const start = index - (index % CHUNK_TRANSACTIONS);
  const chunkBytes = reader.length;
  if (chunkBytes <= SMALL_CHUNK_BYTES) {
    const length = Math.min(CHUNK_TRANSACTIONS, count - start);
    return { items: Array.from({ length }, read), from: start, chunkBytes };
  }
  for (let before = start; before < index; before++) pass();
  return { items: [read()], from: index, chunkBytes };
}

/** Bytes of a chunk that is decoded as a whole for one of its items; token transfers take 25 KB. */
const SMALL_CHUNK_BYTES = 64 * 1024;
