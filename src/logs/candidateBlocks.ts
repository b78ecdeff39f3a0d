import { equalBytes } from "../primitives/hex.ts";
import { smaller } from "../primitives/quantity.ts";
import { readBlooms, readHeader } from "../storage/blocks/headerStore.ts";
import {
  CHUNK_BLOCKS,
  type ChunkReader,
  findSegment,
  openChunks,
  SEGMENT_BLOCKS,
  type SegmentFile,
} from "../storage/blooms/bloomFiles.ts";
import type { Database } from "../storage/database.ts";
import { BLOOM_BYTES } from "../types/bloom.ts";
import type { LogMatcher } from "./logMatcher.ts";
import type { BlockRange } from "./logQuery.ts";
import type { ScanSlices } from "./scanSlices.ts";

interface CandidateParts {
  readonly database: Database;
  /** Directory of the bloom files. */
  readonly bloomFolder: string;
  readonly matcher: LogMatcher;
  readonly slices: ScanSlices;
  /** Called when the file of a segment does not match its checksums, or belongs to another chain. */
  onInvalidSegment(segment: number): void;
}

/** Numbers of the blocks that their blooms do not rule out, in order; ends early once the scan is over. */
export async function* candidateBlocks(
  parts: CandidateParts,
  { from, to }: BlockRange,
): AsyncGenerator<bigint> {
  for (let next = from; next <= to; ) {
    const number = Number(next / SEGMENT);
    const segment = openSegment(parts, number, next);
    const until = smaller(segment?.end ?? BigInt(number + 1) * SEGMENT, to + 1n);
    if (segment === undefined) yield* inHeaders(parts, next, until);
    else {
      try {
        yield* inSegment(parts, segment, next, until);
      } finally {
        segment.chunks.close();
      }
    }
    if (parts.slices.isOver) return;
    next = until;
  }
}

interface OpenSegment {
  readonly file: SegmentFile;
  readonly chunks: ChunkReader;
  /** The block after the last one that the file covers. */
  readonly end: bigint;
}

/** Opens the file of a segment; undefined when no valid one covers block `next`. */
function openSegment(parts: CandidateParts, segment: number, next: bigint): OpenSegment | undefined {
  const file = validSegment(parts, segment);
  if (file === undefined) return undefined;
  const end = BigInt(segment) * SEGMENT + BigInt(file.sums.chunks.length * CHUNK_BLOCKS);
  const chunks = next < end ? openChunks(file) : undefined;
  return chunks && { file, chunks, end };
}

/** The file of a segment, if the last block that it covers is on this chain. */
function validSegment(
  { database, bloomFolder, onInvalidSegment }: CandidateParts,
  segment: number,
): SegmentFile | undefined {
  const file = findSegment(bloomFolder, segment);
  const last = file?.sums.chunks.at(-1);
  if (file === undefined || last === undefined) return undefined;
  const number = segment * SEGMENT_BLOCKS + file.sums.chunks.length * CHUNK_BLOCKS - 1;
  const header = readHeader(database, BigInt(number));
  if (header !== undefined && equalBytes(header.hash, last.lastHash)) return file;
  onInvalidSegment(segment);
  return undefined;
}

async function* inSegment(
  parts: CandidateParts,
  { file, chunks }: OpenSegment,
  from: bigint,
  until: bigint,
): AsyncGenerator<bigint> {
  const { matcher, slices } = parts;
  const { segment, chunks: sums } = file.sums;
  for (let next = from; next < until && !slices.isOver; ) {
    const chunk = Number((next % SEGMENT) / CHUNK);
    const first = BigInt(segment) * SEGMENT + BigInt(chunk) * CHUNK;
    const end = smaller(first + CHUNK, until);
    const union = sums[chunk]?.union;
    if (union !== undefined && !matcher.mayMatch(union)) {
      await slices.spend(bloomCost(matcher));
    } else {
      const blooms = chunks.read(chunk);
      if (blooms !== undefined) yield* inChunk(parts, { blooms, first }, next, end);
      else {
        parts.onInvalidSegment(segment);
        yield* inHeaders(parts, next, end);
      }
    }
    next = end;
  }
}

async function* inChunk(
  { matcher, slices }: CandidateParts,
  { blooms, first }: { readonly blooms: Uint8Array; readonly first: bigint },
  from: bigint,
  until: bigint,
): AsyncGenerator<bigint> {
  const cost = bloomCost(matcher);
  if (!(await slices.spend(CHUNK_COST))) return;
  for (let number = from; number < until; number++) {
    if (matcher.mayMatch(blooms, Number(number - first) * BLOOM_BYTES)) yield number;
    if (slices.isUsedUp(cost) && !(await slices.yield())) return;
  }
}

async function* inHeaders(
  { database, matcher, slices }: CandidateParts,
  from: bigint,
  until: bigint,
): AsyncGenerator<bigint> {
  const cost = HEADER_COST + bloomCost(matcher);
  for await (const { number, logsBloom } of readBlooms(database, { from, until })) {
    if (matcher.mayMatch(logsBloom)) yield number;
    if (slices.isUsedUp(cost) && !(await slices.yield())) return;
  }
}

const SEGMENT = BigInt(SEGMENT_BLOCKS);
const CHUNK = BigInt(CHUNK_BLOCKS);

/** Cost of matching one bloom, microseconds. */
function bloomCost({ criteria }: LogMatcher): number {
  return BLOOM_COST + criteria * CRITERION_COST;
}

const CHUNK_COST = 200;
const HEADER_COST = 5;
const BLOOM_COST = 0.1;
const CRITERION_COST = 0.01;
