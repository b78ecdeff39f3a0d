import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { asHash, type Hash } from "../../primitives/hash.ts";
import { BLOOM_BYTES } from "../../types/bloom.ts";
import { RecordReader, RecordWriter } from "../blocks/byteRecord.ts";
import { checksumOf, openValue, sealValue } from "../checksum.ts";
import { DamagedData } from "../database.ts";

/**
 * The blooms of old blocks in files of their own, in Besu's format: `logBloom-<n>.cache` has the 256 bytes of each of
 * 100,000 blocks, beginning with block 100,000 n; `logBloom-current.cache` has the blocks after the last full file.
 *
 * A bloom file has no checksum, and a wrong one would hide logs for ever. So a file of sums lies beside each, and
 * blooms without it are not used: for every thousand blocks (a chunk) it has the checksum of their blooms, the hash of
 * the last block, and the union of their blooms. The blooms come from linked blocks up to that hash, so as long as the
 * chain has that block, they are right. The union rules out most chunks of a quiet chain without a read.
 *
 * The files are a cache: blooms that are missing or not valid are read from the headers instead.
 */
export const SEGMENT_BLOCKS = 100_000;
export const CHUNK_BLOCKS = 1_000;
export const CHUNKS_PER_SEGMENT = SEGMENT_BLOCKS / CHUNK_BLOCKS;
export const CHUNK_BYTES = CHUNK_BLOCKS * BLOOM_BYTES;

/** The entry of a chunk in the file of sums. */
export interface ChunkSum {
  readonly checksum: number;
  readonly lastHash: Hash;
  readonly union: Uint8Array;
}

/** The chunks of a segment that are in its file, from its first block on. */
interface SegmentSums {
  readonly segment: number;
  readonly chunks: readonly ChunkSum[];
}

export interface SegmentPaths {
  readonly blooms: string;
  readonly sums: string;
}

/** Paths by name: a segment's number, "current" for the one that is not full yet, or a temporary file of either. */
export function segmentPaths(folder: string, name: string): SegmentPaths {
  const stem = join(folder, `logBloom-${name}`);
  return { blooms: `${stem}.cache`, sums: `${stem}.sums` };
}

export const CURRENT = "current";

/** A segment's file on disk, with the sums that it must match. */
export interface SegmentFile {
  readonly paths: SegmentPaths;
  readonly sums: SegmentSums;
}

/** Finds the file with the most chunks of a segment; undefined when there is no valid one. */
export function findSegment(folder: string, segment: number): SegmentFile | undefined {
  for (const name of [String(segment), CURRENT]) {
    const paths = segmentPaths(folder, name);
    const sums = readSums(paths);
    if (sums?.segment === segment && isLongEnough(paths, sums)) return { paths, sums };
  }
  return undefined;
}

export function chunkSum(lastHash: Hash, blooms: Uint8Array): ChunkSum {
  return { checksum: checksumOf(lastHash, blooms), lastHash, union: unionOf(blooms) };
}

/** Reads chunks of one segment's file. Must be closed. */
export interface ChunkReader {
  /** The blooms of a chunk; undefined when they do not match the sums. */
  read(chunk: number): Uint8Array | undefined;
  close(): void;
}

/** Undefined when the file is gone. */
export function openChunks({ paths, sums }: SegmentFile): ChunkReader | undefined {
  let file: number;
  try {
    file = openSync(paths.blooms, "r");
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
  return {
    read(chunk) {
      const sum = sums.chunks[chunk];
      if (sum === undefined) return undefined;
      const blooms = new Uint8Array(CHUNK_BYTES);
      const length = readSync(file, blooms, 0, CHUNK_BYTES, chunk * CHUNK_BYTES);
      return length === CHUNK_BYTES && checksumOf(sum.lastHash, blooms) === sum.checksum ? blooms : undefined;
    },
    close: () => closeSync(file),
  };
}

/** Undefined when the file is absent or damaged. */
export function readSums({ sums }: SegmentPaths): SegmentSums | undefined {
  if (!existsSync(sums)) return undefined;
  try {
    return decodeSums(openValue(readFileSync(sums), "the sums"));
  } catch (error) {
    if (error instanceof DamagedData || isGone(error)) return undefined;
    throw error;
  }
}

export function encodeSums({ segment, chunks }: SegmentSums): Uint8Array {
  const writer = new RecordWriter(32 + chunks.length * 300);
  writer.number(SUMS_VERSION);
  writer.number(segment);
  writer.number(chunks.length);
  for (const { checksum, lastHash, union } of chunks) {
    writer.number(checksum);
    writer.fixed(lastHash);
    writer.fixed(union);
  }
  return sealValue(writer.finish());
}

/** Numbers of the segments that have a file of any kind, valid or not. */
function segmentsOnDisk(folder: string): readonly number[] {
  const numbers = filesIn(folder).flatMap((file) => {
    const [, name] = OWN_FILE.exec(file) ?? [];
    return name === undefined || name === CURRENT ? [] : [Number(name)];
  });
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** Removes all files of these segments, both ends and temporary files included. */
export function removeSegments(folder: string, first: number, last: number): void {
  for (const segment of segmentsOnDisk(folder)) {
    if (segment < first || segment > last) continue;
    removeNamed(folder, String(segment));
  }
  const current = readSums(segmentPaths(folder, CURRENT))?.segment;
  if (current === undefined || (current >= first && current <= last)) removeNamed(folder, CURRENT);
}

/** Removes all files of one name (segmentPaths). */
export function removeNamed(folder: string, name: string): void {
  for (const file of filesIn(folder))
    if (OWN_FILE.exec(file)?.[1] === name) rmSync(join(folder, file), { force: true });
}

/** Besu's bloom files, our sums, and temporary files of both. */
const OWN_FILE = /^logBloom-(\d{1,9}|current)\.(?:cache|sums)(?:\.new|\.draft|\.new\.draft)?$/;

function filesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Version of the encoding of the sums, increased with each change; sums of another version are not used. */
const SUMS_VERSION = 1;

function decodeSums(record: Uint8Array): SegmentSums | undefined {
  const reader = new RecordReader(record);
  if (reader.number() !== SUMS_VERSION) return undefined;
  const segment = reader.number();
  const chunks = Array.from({ length: reader.number() }, () => ({
    checksum: reader.number(),
    lastHash: asHash(reader.fixed(32)),
    union: reader.fixed(BLOOM_BYTES),
  }));
  return { segment, chunks };
}

function isLongEnough({ blooms }: SegmentPaths, { chunks }: SegmentSums): boolean {
  return existsSync(blooms) && statSync(blooms).size >= chunks.length * CHUNK_BYTES;
}

function unionOf(blooms: Uint8Array): Uint8Array {
  const words = new Uint32Array(blooms.buffer, blooms.byteOffset, blooms.length / 4);
  const union = new Uint32Array(BLOOM_BYTES / 4);
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? 0;
    if (word !== 0) union[at % union.length] = (union[at % union.length] ?? 0) | word;
  }
  return new Uint8Array(union.buffer);
}

function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
