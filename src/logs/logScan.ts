import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { LocatedLog } from "../chain/chain.ts";
import { equalBytes } from "../primitives/hex.ts";
import { smaller } from "../primitives/quantity.ts";
import { createBlockStore } from "../storage/blocks/blockStore.ts";
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
import { type BlockRange, createLogMatcher, type LogCriteria, type LogMatcher } from "./logQuery.ts";

export interface LogScanParts {
  readonly database: Database;
  /** Directory of the bloom files. */
  readonly bloomFolder: string;
}

export interface LogScanListener {
  /** Receives the matching logs of one block. */
  take(logs: readonly LocatedLog[]): void | Promise<void>;
  /** True to end the scan early. */
  isOver(): boolean;
  /** Called when the file of a segment does not match its checksums, or is of another chain. */
  onInvalidSegment(segment: number): void;
}

/** A rewind removed blocks during the scan. */
export class ChainMoved extends Error {
  override name = "ChainMoved";
}

/**
 * As queryLogs, for ranges of any length, on a worker thread. Bloom files rule out blocks, a thousand at once where
 * possible; headers do where there is no valid file. All results are of one chain, that of the head at the start of the
 * scan; throws ChainMoved if that chain was rewound.
 */
export async function scanLogs(
  parts: LogScanParts,
  criteria: LogCriteria,
  range: BlockRange,
  listener: LogScanListener,
): Promise<void> {
  // Caches almost nothing, because another thread may rewind the blocks.
  const blocks = createBlockStore({ headers: 1, transactions: 1 }, parts);
  const head = blocks.head();
  if (head === undefined) return;
  const from = range.from < 0n ? 0n : range.from;
  const to = smaller(range.to, head.header.number);
  const matcher = createLogMatcher(criteria);
  const slices = createScanSlices(listener);
  for await (const number of candidates(parts, matcher, { from, to }, listener, slices)) {
    const block = blocks.block(number);
    if (block === undefined) throw new ChainMoved();
    const logs: LocatedLog[] = [];
    matcher.collect(block, logs);
    if (logs.length > 0) await listener.take(logs);
    if (!(await slices.spend(BLOCK_COST + block.receipts.length * RECEIPT_COST + logs.length * LOG_COST)))
      return;
  }
  const sameHead = readHeader(parts.database, head.header.number);
  if (sameHead === undefined || !equalBytes(sameHead.hash, head.hash)) throw new ChainMoved();
}

/** Numbers of the blocks that their blooms do not rule out, in order. */
async function* candidates(
  { database, bloomFolder }: LogScanParts,
  matcher: LogMatcher,
  { from, to }: BlockRange,
  listener: LogScanListener,
  slices: ScanSlices,
): AsyncGenerator<bigint> {
  const bloomCost = BLOOM_COST + matcher.criteria * CRITERION_COST;
  for (let next = from; next <= to; ) {
    const segment = Number(next / SEGMENT);
    const file = validSegment(database, bloomFolder, segment, listener);
    const indexed = file && BigInt(segment) * SEGMENT + BigInt(file.sums.chunks.length * CHUNK_BLOCKS);
    const chunks = file && indexed !== undefined && next < indexed ? openChunks(file) : undefined;
    if (file !== undefined && indexed !== undefined && chunks !== undefined) {
      try {
        const until = smaller(indexed, to + 1n);
        yield* inSegment({ file, chunks }, { from: next, to: until - 1n });
        next = until;
      } finally {
        chunks.close();
      }
    } else {
      const until = smaller(BigInt(segment + 1) * SEGMENT, to + 1n);
      yield* inHeaders(next, until);
      next = until;
    }
    if (slices.isOver) return;
  }

  async function* inSegment(
    { file, chunks }: { readonly file: SegmentFile; readonly chunks: ChunkReader },
    range: BlockRange,
  ): AsyncGenerator<bigint> {
    const start = BigInt(file.sums.segment) * SEGMENT;
    for (let next = range.from; next <= range.to; ) {
      const chunk = Number((next - start) / CHUNK);
      const first = start + BigInt(chunk) * CHUNK;
      const until = smaller(first + CHUNK, range.to + 1n);
      const union = file.sums.chunks[chunk]?.union;
      if (union === undefined || matcher.mayMatch(union)) {
        const blooms = chunks.read(chunk);
        if (blooms === undefined) {
          listener.onInvalidSegment(file.sums.segment);
          yield* inHeaders(next, until);
        } else {
          if (!(await slices.spend(CHUNK_COST))) return;
          for (let number = next; number < until; number++) {
            if (matcher.mayMatch(blooms, Number(number - first) * BLOOM_BYTES)) yield number;
            if (slices.isUsedUp(bloomCost) && !(await slices.yield())) return;
          }
        }
      } else if (!(await slices.spend(bloomCost))) return;
      next = until;
    }
  }

  async function* inHeaders(from: bigint, until: bigint): AsyncGenerator<bigint> {
    for await (const { number, logsBloom } of readBlooms(database, { from, until })) {
      if (matcher.mayMatch(logsBloom)) yield number;
      if (slices.isUsedUp(HEADER_COST + bloomCost) && !(await slices.yield())) return;
    }
  }
}

/** The file of a segment, if the last block that it covers is on this chain. */
function validSegment(
  database: Database,
  folder: string,
  segment: number,
  listener: LogScanListener,
): SegmentFile | undefined {
  const file = findSegment(folder, segment);
  const last = file?.sums.chunks.at(-1);
  if (file === undefined || last === undefined) return undefined;
  const number = segment * SEGMENT_BLOCKS + file.sums.chunks.length * CHUNK_BLOCKS - 1;
  const header = readHeader(database, BigInt(number));
  if (header !== undefined && equalBytes(header.hash, last.lastHash)) return file;
  listener.onInvalidSegment(segment);
  return undefined;
}

/** Divides the scan into slices of the event loop, by estimated cost. */
interface ScanSlices {
  readonly isOver: boolean;
  /** Adds the cost of the next piece of work, microseconds; true when the slice is used up. */
  isUsedUp(cost: number): boolean;
  /** Yields to the event loop; false when the scan is over. */
  yield(): Promise<boolean>;
  /** Adds a cost and yields if the slice is used up; false when the scan is over. */
  spend(cost: number): Promise<boolean> | boolean;
}

function createScanSlices({ isOver }: Pick<LogScanListener, "isOver">): ScanSlices {
  let work = 0;
  const slices: ScanSlices = {
    get isOver() {
      return isOver();
    },
    isUsedUp(cost) {
      work += cost;
      return work >= SLICE_COST;
    },
    async yield() {
      work = 0;
      await yieldToEventLoop();
      return !isOver();
    },
    spend: (cost) => (slices.isUsedUp(cost) ? slices.yield() : !isOver()),
  };
  return slices;
}

const SEGMENT = BigInt(SEGMENT_BLOCKS);
const CHUNK = BigInt(CHUNK_BLOCKS);

/** Cost of one slice, and of the parts of a scan, in microseconds on an ordinary core. */
const SLICE_COST = 5_000;
const CHUNK_COST = 200;
const HEADER_COST = 5;
const BLOOM_COST = 0.1;
const CRITERION_COST = 0.01;
const BLOCK_COST = 50;
const RECEIPT_COST = 5;
const LOG_COST = 10;
