import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import type { Hash } from "../../primitives/hash.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { syncFolder } from "../../primitives/syncFolder.ts";
import { BLOOM_BYTES } from "../../types/bloom.ts";
import { readBlooms, readHeader } from "../blocks/headerStore.ts";
import type { Database } from "../database.ts";
import { readHistoryStart } from "../historyStart.ts";
import {
  CHUNK_BLOCKS,
  CHUNK_BYTES,
  CHUNKS_PER_SEGMENT,
  type ChunkSum,
  CURRENT,
  chunkSum,
  encodeSums,
  findSegment,
  readSums,
  removeNamed,
  SEGMENT_BLOCKS,
  type SegmentPaths,
  segmentPaths,
} from "./bloomFiles.ts";

/** Called after each chunk with the newest block written; the writer continues when the promise resolves. */
type OnProgress = (block: bigint) => Promise<void>;

/**
 * Writes bloom files (bloomFiles.ts) from the headers in the database. Blooms count once the file of sums lists them,
 * which is replaced atomically after the blooms are durable; leftovers of a crash are overwritten.
 */
export interface BloomFileWriter {
  /** Writes the blooms that a segment's file lacks. False when it is complete, judging by its sums and its length. */
  complete(segment: number, onProgress: OnProgress): Promise<boolean>;
  /** Writes a segment's file again from its first block. */
  rewrite(segment: number, onProgress: OnProgress): Promise<void>;
}

export function createBloomFileWriter(folder: string, database: Database): BloomFileWriter {
  mkdirSync(folder, { recursive: true });
  const current = segmentPaths(folder, CURRENT);

  function isFull(segment: number): boolean {
    const last = findSegment(folder, segment)?.sums.chunks[CHUNKS_PER_SEGMENT - 1];
    return isOnChain(database, { segment, chunk: CHUNKS_PER_SEGMENT - 1 }, last?.lastHash);
  }

  /** Whether the chain has all blocks of a segment. */
  function isPast(segment: number): boolean {
    return readHeader(database, BigInt((segment + 1) * SEGMENT_BLOCKS - 1)) !== undefined;
  }

  /** Writes a draft beside the segment's file, which it replaces when complete. */
  async function writeWhole(segment: number, onProgress: OnProgress): Promise<void> {
    const { blooms, sums } = segmentPaths(folder, String(segment));
    const draft = { blooms: `${blooms}.new`, sums: `${sums}.new` };
    await append(draft, { segment, chunks: [] }, onProgress);
  }

  async function extend(segment: number, onProgress: OnProgress): Promise<void> {
    removeNamed(folder, String(segment));
    const known = findSegment(folder, segment)?.sums.chunks ?? [];
    let sound = known.length;
    while (sound > 0 && !isOnChain(database, { segment, chunk: sound - 1 }, known[sound - 1]?.lastHash))
      sound--;
    await append(current, { segment, chunks: known.slice(0, sound) }, onProgress);
  }

  async function append(paths: SegmentPaths, begun: BegunSegment, onProgress: OnProgress): Promise<void> {
    const count = await appendChunks(database, paths, begun, onProgress);
    if (count === CHUNKS_PER_SEGMENT) adopt(paths, begun.segment);
  }

  /** Renames the blooms first, then the sums: in between no sums match the blooms. */
  function adopt(from: SegmentPaths, segment: number): void {
    const to = segmentPaths(folder, String(segment));
    renameSync(from.blooms, to.blooms);
    renameSync(from.sums, to.sums);
    syncFolder(folder);
  }

  /** Whether headers of a segment lie before the start of the history: it gets no file, its headers are searched. */
  function isCut(segment: number): boolean {
    return BigInt(segment * SEGMENT_BLOCKS) < readHistoryStart(database).headers;
  }

  return {
    async complete(segment, onProgress) {
      if (isCut(segment) || isFull(segment)) return false;
      const isBegun = readSums(current)?.segment === segment;
      if (isPast(segment) && !isBegun) await writeWhole(segment, onProgress);
      else await extend(segment, onProgress);
      return true;
    },
    async rewrite(segment, onProgress) {
      if (isCut(segment)) {
        removeNamed(folder, String(segment));
        return;
      }
      if (readSums(current)?.segment === segment) removeNamed(folder, CURRENT);
      if (isPast(segment)) await writeWhole(segment, onProgress);
      else await extend(segment, onProgress);
    },
  };
}

/** Whether the chain's block at the end of a chunk is still the one whose hash was stored with the chunk. */
function isOnChain(
  database: Database,
  { segment, chunk }: { readonly segment: number; readonly chunk: number },
  lastHash: Hash | undefined,
): boolean {
  const header = readHeader(database, chunkPlace(segment, chunk).until - 1n);
  return header !== undefined && lastHash !== undefined && equalBytes(header.hash, lastHash);
}

/** The chunks of a segment that its file has already. */
interface BegunSegment {
  readonly segment: number;
  readonly chunks: readonly ChunkSum[];
}

/** Appends the chunks that the chain has, then replaces the sums; returns how many chunks the file has now. */
async function appendChunks(
  database: Database,
  paths: SegmentPaths,
  { segment, chunks: before }: BegunSegment,
  onProgress: OnProgress,
): Promise<number> {
  const chunks = [...before];
  const file = openSync(paths.blooms, before.length === 0 ? "w" : "r+");
  try {
    ftruncateSync(file, chunks.length * CHUNK_BYTES);
    while (chunks.length < CHUNKS_PER_SEGMENT) {
      const place = chunkPlace(segment, chunks.length);
      const chunk = await readChunk(database, place, chunks.at(-1)?.lastHash);
      if (chunk === undefined) break;
      writeSync(file, chunk.blooms, 0, CHUNK_BYTES, chunks.length * CHUNK_BYTES);
      chunks.push(chunkSum(chunk.lastHash, chunk.blooms));
      await onProgress(place.until - 1n);
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  writeSums(paths.sums, encodeSums({ segment, chunks }));
  return chunks.length;
}

function writeSums(path: string, bytes: Uint8Array): void {
  const draft = `${path}.draft`;
  writeFileSync(draft, bytes, { flush: true });
  renameSync(draft, path);
}

interface ChunkPlace {
  readonly from: bigint;
  readonly until: bigint;
}

function chunkPlace(segment: number, chunk: number): ChunkPlace {
  const from = BigInt(segment * SEGMENT_BLOCKS + chunk * CHUNK_BLOCKS);
  return { from, until: from + BigInt(CHUNK_BLOCKS) };
}

/** The blooms of a chunk of linked blocks; undefined when the chain ends within it, or a rewind came in between. */
async function readChunk(
  database: Database,
  place: ChunkPlace,
  parent: Hash | undefined,
): Promise<{ readonly blooms: Uint8Array; readonly lastHash: Hash } | undefined> {
  const blooms = new Uint8Array(CHUNK_BYTES);
  let last = parent;
  let count = 0;
  for await (const { hash, parentHash, logsBloom } of readBlooms(database, place)) {
    if (last !== undefined && !equalBytes(parentHash, last)) return undefined;
    blooms.set(logsBloom, count * BLOOM_BYTES);
    last = hash;
    count++;
  }
  return count === CHUNK_BLOCKS && last !== undefined ? { blooms, lastHash: last } : undefined;
}
