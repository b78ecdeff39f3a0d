import type { LocatedLog } from "../chain/chainReader.ts";
import type { Hash } from "../primitives/hash.ts";
import { equalBytes } from "../primitives/hex.ts";
import { smaller } from "../primitives/quantity.ts";
import { BlockStore } from "../storage/blocks/blockStore.ts";
import { type HeaderRecord, isHeaderAlone, readHeader } from "../storage/blocks/headerStore.ts";
import { findLogsInSteps } from "../storage/blocks/storedLogs.ts";
import type { Database } from "../storage/database.ts";
import { isWithin, readHistoryStart } from "../storage/historyStart.ts";
import { BlockRemoved } from "../types/blockRemoved.ts";
import { candidateBlocks } from "./candidateBlocks.ts";
import { createLogMatcherInSteps, type LogCriteria, type LogMatcher } from "./logMatcher.ts";
import type { BlockRange } from "./logQuery.ts";
import { createScanSlices, type ScanSlices } from "./scanSlices.ts";

interface LogScanParts {
  readonly database: Database;
  /** Directory of the bloom files. */
  readonly bloomFolder: string;
}

interface LogScanListener {
  /** Receives matching logs of one block, as many as a step finds. */
  take(logs: readonly LocatedLog[]): void | Promise<void>;
  /** True to end the scan early. */
  isOver(): boolean;
  /** Ends a slice of the scan, and resolves when the next one may begin; by default in the next cycle of the event loop. */
  turn?(): Promise<void>;
  /** Called when the file of a segment does not match its checksums, or belongs to another chain. */
  onInvalidSegment(segment: number): void;
}

/** A rewind removed blocks during the scan. */
export class ChainMoved extends Error {
  override name = "ChainMoved";
}

/**
 * Finds logs like queryLogs, in ranges of any length, on a worker thread. Bloom files rule out blocks, a thousand at once
 * where possible; without a valid file, headers do. All results belong to one chain, that of the head at the start of the
 * scan; throws ChainMoved if that chain was rewound, and BlockRemoved if a block that may have such logs was removed for its
 * age.
 */
export async function scanLogs(
  parts: LogScanParts,
  criteria: LogCriteria,
  range: BlockRange,
  listener: LogScanListener,
): Promise<void> {
  // The store caches no block, because another thread may rewind the blocks.
  const blocks = new BlockStore({ headers: 1, blockBytes: 0 }, parts);
  const head = blocks.head();
  if (head === undefined) return;
  const from = range.from < 0n ? 0n : range.from;
  const to = smaller(range.to, head.header.number);
  const slices = createScanSlices(() => listener.isOver(), listener.turn?.bind(listener));
  const matcher = await prepare(criteria, slices);
  if (matcher === undefined) return;
  const { database, bloomFolder } = parts;
  const onInvalidSegment = (segment: number): void => listener.onInvalidSegment(segment);
  const candidates = candidateBlocks(
    { database, bloomFolder, matcher, slices, onInvalidSegment },
    { from, to },
  );
  const scan = { database, matcher, slices, listener };
  for await (const number of candidates) {
    if (!isWithin(readHistoryStart(database), number)) throw new BlockRemoved(number);
    const block = blocks.header(number);
    if (block === undefined || isHeaderAlone(block)) throw new ChainMoved();
    try {
      if (!(await scanBlock(scan, block))) return;
    } catch (error) {
      // A rewind removes the rest of the block under a scan.
      throw error instanceof BlockRemoved || isStored(database, block) ? error : new ChainMoved();
    }
  }
  if (!isStored(database, head)) throw new ChainMoved();
}

/** The criteria, prepared in slices; undefined when the scan is over. */
async function prepare(criteria: LogCriteria, slices: ScanSlices): Promise<LogMatcher | undefined> {
  const steps = createLogMatcherInSteps(criteria);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (!(await slices.spend(CRITERIA_COST))) return undefined;
  }
}

interface Scan {
  readonly database: Database;
  readonly matcher: LogMatcher;
  readonly slices: ScanSlices;
  readonly listener: LogScanListener;
}

/** Scans a block for logs step by step: one receipt may have a hundred thousand. Returns false when the scan is over. */
async function scanBlock(
  { database, matcher, slices, listener }: Scan,
  block: HeaderRecord,
): Promise<boolean> {
  let logs: LocatedLog[] = [];
  const located = { blockNumber: block.header.number, blockHash: block.hash, removed: false };
  const steps = findLogsInSteps(database, block, matcher.matchesStored, (found) =>
    logs.push({ ...found, ...located }),
  );
  for (let cost = BLOCK_COST; ; cost = STEP_COST) {
    const { done } = steps.next();
    const found = logs;
    logs = [];
    if (found.length > 0) await listener.take(found);
    if (!(await slices.spend(cost + found.length * LOG_COST))) return false;
    if (done === true) return true;
  }
}

function isStored(
  database: Database,
  { header, hash }: { readonly header: { readonly number: bigint }; readonly hash: Hash },
): boolean {
  const stored = readHeader(database, header.number);
  return stored !== undefined && equalBytes(stored.hash, hash);
}

/** Cost of the parts of a scan, microseconds. */
const BLOCK_COST = 50;
const STEP_COST = 200;
const LOG_COST = 10;
const CRITERIA_COST = 300;
