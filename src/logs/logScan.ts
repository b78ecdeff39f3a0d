import { setImmediate as nextTurn } from "node:timers/promises";
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
  /** Folder of the files of blooms. */
  readonly bloomFolder: string;
}

export interface LogScanListener {
  /** Wanted logs of one block. */
  take(logs: readonly LocatedLog[]): void | Promise<void>;
  /** True once nobody needs more of the answer: the scan ends. */
  isOver(): boolean;
  /** The file of a segment is not what its sums say, or is of another chain. */
  onUnsound(segment: number): void;
}

/** A rewind took blocks away while they were being looked through. */
export class ChainMoved extends Error {
  override name = "ChainMoved";
}

/**
 * As queryLogs, for ranges of any length, on a thread of its own: blocks are ruled out by the files of blooms, a thousand
 * at once where possible, and by the headers where no file can be believed. What is told was true of one chain, that of
 * the head when the scan began; otherwise it throws ChainMoved.
 */
export async function scanLogs(
  parts: LogScanParts,
  criteria: LogCriteria,
  range: BlockRange,
  listener: LogScanListener,
): Promise<void> {
  // Of its own, because another thread may rewind what it would hold decoded.
  const blocks = createBlockStore({ headers: 1, transactions: 1 }, parts);
  const head = blocks.head();
  if (head === undefined) return;
  const from = range.from < 0n ? 0n : range.from;
  const to = smaller(range.to, head.header.number);
  const matcher = createLogMatcher(criteria);
  const pace = createPace(listener);
  for await (const number of candidates(parts, matcher, { from, to }, listener, pace)) {
    const block = blocks.block(number);
    if (block === undefined) throw new ChainMoved();
    const logs: LocatedLog[] = [];
    matcher.collect(block, logs);
    if (logs.length > 0) await listener.take(logs);
    if (!(await pace.spend(BLOCK_COST + block.receipts.length * RECEIPT_COST + logs.length * LOG_COST)))
      return;
  }
  const sameHead = readHeader(parts.database, head.header.number);
  if (sameHead === undefined || !equalBytes(sameHead.hash, head.hash)) throw new ChainMoved();
}

/** Numbers of the blocks whose blooms do not rule them out, in order. */
async function* candidates(
  { database, bloomFolder }: LogScanParts,
  matcher: LogMatcher,
  { from, to }: BlockRange,
  listener: LogScanListener,
  pace: ScanPace,
): AsyncGenerator<bigint> {
  const bloomCost = BLOOM_COST + matcher.criteria * CRITERION_COST;
  for (let next = from; next <= to; ) {
    const segment = Number(next / SEGMENT);
    const file = soundSegment(database, bloomFolder, segment, listener);
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
    if (pace.isOver) return;
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
          listener.onUnsound(file.sums.segment);
          yield* inHeaders(next, until);
        } else {
          if (!(await pace.spend(CHUNK_COST))) return;
          for (let number = next; number < until; number++) {
            if (matcher.mayMatch(blooms, Number(number - first) * BLOOM_BYTES)) yield number;
            if (pace.isDue(bloomCost) && !(await pace.rest())) return;
          }
        }
      } else if (!(await pace.spend(bloomCost))) return;
      next = until;
    }
  }

  async function* inHeaders(from: bigint, until: bigint): AsyncGenerator<bigint> {
    for await (const { number, logsBloom } of readBlooms(database, { from, until })) {
      if (matcher.mayMatch(logsBloom)) yield number;
      if (pace.isDue(HEADER_COST + bloomCost) && !(await pace.rest())) return;
    }
  }
}

/** The file of a segment, if the block that its last sum names is on the chain. */
function soundSegment(
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
  listener.onUnsound(segment);
  return undefined;
}

interface ScanPace {
  readonly isOver: boolean;
  /** Adds work that is about to be done, in microseconds; true when the others' turn has come. */
  isDue(cost: number): boolean;
  /** Lets the others have their turn; false when the scan is over. */
  rest(): Promise<boolean>;
  spend(cost: number): Promise<boolean> | boolean;
}

function createPace({ isOver }: Pick<LogScanListener, "isOver">): ScanPace {
  let work = 0;
  const pace: ScanPace = {
    get isOver() {
      return isOver();
    },
    isDue(cost) {
      work += cost;
      return work >= TURN_COST;
    },
    async rest() {
      work = 0;
      await nextTurn();
      return !isOver();
    },
    spend: (cost) => (pace.isDue(cost) ? pace.rest() : !isOver()),
  };
  return pace;
}

const SEGMENT = BigInt(SEGMENT_BLOCKS);
const CHUNK = BigInt(CHUNK_BLOCKS);

/** What a scan does before the others' turn comes, and what its parts take, in microseconds of an ordinary core. */
const TURN_COST = 5_000;
const CHUNK_COST = 200;
const HEADER_COST = 5;
const BLOOM_COST = 0.1;
const CRITERION_COST = 0.01;
const BLOCK_COST = 50;
const RECEIPT_COST = 5;
const LOG_COST = 10;
