import type { LocatedLog } from "../chain/chain.ts";
import { equalBytes } from "../primitives/hex.ts";
import { smaller } from "../primitives/quantity.ts";
import { createBlockStore } from "../storage/blocks/blockStore.ts";
import { readHeader } from "../storage/blocks/headerStore.ts";
import type { Database } from "../storage/database.ts";
import { candidateBlocks } from "./candidateBlocks.ts";
import { type BlockRange, createLogMatcher, type LogCriteria } from "./logQuery.ts";
import { createScanSlices } from "./scanSlices.ts";

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
  /** Ends a slice of the scan, and resolves when the next one may begin: in the next cycle of the event loop, if not given. */
  turn?(): Promise<void>;
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
  // Caches no block, because another thread may rewind the blocks.
  const blocks = createBlockStore({ headers: 1, blockBytes: 0 }, parts);
  const head = blocks.head();
  if (head === undefined) return;
  const from = range.from < 0n ? 0n : range.from;
  const to = smaller(range.to, head.header.number);
  const matcher = createLogMatcher(criteria);
  const slices = createScanSlices(() => listener.isOver(), listener.turn?.bind(listener));
  const { database, bloomFolder } = parts;
  const onInvalidSegment = (segment: number): void => listener.onInvalidSegment(segment);
  const candidates = candidateBlocks(
    { database, bloomFolder, matcher, slices, onInvalidSegment },
    { from, to },
  );
  for await (const number of candidates) {
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

/** Cost of the parts of a scan, microseconds. */
const BLOCK_COST = 50;
const RECEIPT_COST = 5;
const LOG_COST = 10;
