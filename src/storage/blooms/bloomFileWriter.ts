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
export class BloomFileWriter {
  private readonly folder: string;
  private readonly database: Database;
  private readonly current: SegmentPaths;

  constructor(folder: string, database: Database) {
    this.folder = folder;
    this.database = database;
    mkdirSync(folder, { recursive: true });
    this.current = segmentPaths(folder, CURRENT);
  }

  /** Writes the blooms that a segment's file lacks. Returns false when it is complete, judging by its sums and its length. */
  async complete(segment: number, onProgress: OnProgress): Promise<boolean> {
    if (this.isCut(segment) || this.isFull(segment)) return false;
    const isBegun = readSums(this.current)?.segment === segment;
    if (this.isPast(segment) && !isBegun) await this.writeWhole(segment, onProgress);
    else await this.extend(segment, onProgress);
    return true;
  }

  /** Writes a segment's file again from its first block. */
  async rewrite(segment: number, onProgress: OnProgress): Promise<void> {
    if (this.isCut(segment)) {
      removeNamed(this.folder, String(segment));
      return;
    }
    if (readSums(this.current)?.segment === segment) removeNamed(this.folder, CURRENT);
    if (this.isPast(segment)) await this.writeWhole(segment, onProgress);
    else await this.extend(segment, onProgress);
  }

  private isFull(segment: number): boolean {
    const last = findSegment(this.folder, segment)?.sums.chunks[CHUNKS_PER_SEGMENT - 1];
    return isOnChain(this.database, { segment, chunk: CHUNKS_PER_SEGMENT - 1 }, last?.lastHash);
  }

  /** Whether the chain has all blocks of a segment. */
  private isPast(segment: number): boolean {
    return readHeader(this.database, BigInt((segment + 1) * SEGMENT_BLOCKS - 1)) !== undefined;
  }

  /** Writes a temporary file beside the segment's file, which it replaces when complete. */
  private async writeWhole(segment: number, onProgress: OnProgress): Promise<void> {
    const { blooms, sums } = segmentPaths(this.folder, String(segment));
    const draft = { blooms: `${blooms}.new`, sums: `${sums}.new` };
    await this.append(draft, { segment, chunks: [] }, onProgress);
  }

  private async extend(segment: number, onProgress: OnProgress): Promise<void> {
    removeNamed(this.folder, String(segment));
    const known = findSegment(this.folder, segment)?.sums.chunks ?? [];
    let sound = known.length;
    while (sound > 0 && !isOnChain(this.database, { segment, chunk: sound - 1 }, known[sound - 1]?.lastHash))
      sound--;
    await this.append(this.current, { segment, chunks: known.slice(0, sound) }, onProgress);
  }

  private async append(paths: SegmentPaths, begun: BegunSegment, onProgress: OnProgress): Promise<void> {
    const count = await appendChunks(this.database, paths, begun, onProgress);
    if (count === CHUNKS_PER_SEGMENT) this.adopt(paths, begun.segment);
  }

  /** Renames the blooms first, then the sums: in between no sums match the blooms. */
  private adopt(from: SegmentPaths, segment: number): void {
    const to = segmentPaths(this.folder, String(segment));
    renameSync(from.blooms, to.blooms);
    renameSync(from.sums, to.sums);
    syncFolder(this.folder);
  }

  /** Whether headers of a segment lie before the start of the history: it then gets no file, and its headers are searched. */
  private isCut(segment: number): boolean {
    return BigInt(segment * SEGMENT_BLOCKS) < readHistoryStart(this.database).headers;
  }
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

/** The chunks of a segment that are already in its file. */
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
