import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ChainReader, LocatedLog } from "../chain/chainReader.ts";
import { readReceipts } from "../chain/readReceipts.ts";
import { expectDefined } from "../primitives/assert.ts";
import { isWithin } from "../storage/historyStart.ts";
import type { StoredBlock } from "../types/block.ts";
import { BlockRemoved } from "../types/blockRemoved.ts";
import type { Log } from "../types/log.ts";
import type { LogMatcher } from "./logMatcher.ts";

/** A range of block numbers, both ends included; `to` may lie beyond the head. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

interface LogQueryListener {
  /** Receives matching logs; returns false to end the query because there are too many. It may yield. */
  take(logs: readonly LocatedLog[]): boolean | Promise<boolean>;
  /** True once the requester is gone. */
  isAbandoned?(): boolean;
}

/** How a query ended; "completed" when the listener has received all matching logs. */
type LogQueryEnd = "completed" | "tooManyLogs" | "abandoned";

/**
 * Passes all matching logs of canonical blocks in the range to the listener, in the order of block, transaction and log. It
 * passes them in small batches, because a full block has too many for one slice of the event loop. Header blooms rule out
 * most blocks without reading their receipts. Yields between slices, because consensus shares the thread. Throws
 * BlockRemoved when a block that may have such logs lies before the start of the history, as it may after a while.
 */
export async function queryLogs(
  chain: ChainReader,
  matcher: LogMatcher,
  { from, to }: BlockRange,
  listener: LogQueryListener,
): Promise<LogQueryEnd> {
  let work = 0;
  for (let number = from; number <= to && number <= chain.head.header.number; number++) {
    const header = chain.headerByNumber(number)?.header;
    work += HEADER_WORK + matcher.criteria / CRITERIA_PER_WORK;
    if (header !== undefined && matcher.mayMatch(header.logsBloom)) {
      const block = chain.blockByNumber(number);
      if (block !== undefined && (await readReceipts(chain, block))) {
        const end = await queryBlock(block, matcher, listener);
        if (end !== "completed") return end;
        work += block.receipts.length + 1;
      } else if (!isWithin(chain.historyStart, number)) throw new BlockRemoved(number);
    }
    if (work >= WORK_PER_SLICE) {
      work = 0;
      await yieldToEventLoop();
      if (listener.isAbandoned?.() === true) return "abandoned";
    }
  }
  return "completed";
}

async function queryBlock(
  block: StoredBlock,
  matcher: LogMatcher,
  listener: LogQueryListener,
): Promise<LogQueryEnd> {
  let batch: LocatedLog[] = [];
  let dataBytes = 0;
  for (const located of locateLogs(block, matcher.matches)) {
    dataBytes += located.log.data.length;
    if (batch.push(located) < LOGS_PER_BATCH && dataBytes < DATA_PER_BATCH) continue;
    const accepted = listener.take(batch);
    if (!(accepted instanceof Promise ? await accepted : accepted)) return "tooManyLogs";
    if (listener.isAbandoned?.() === true) return "abandoned";
    batch = [];
    dataBytes = 0;
  }
  return batch.length === 0 || (await listener.take(batch)) ? "completed" : "tooManyLogs";
}

/** The matching logs of a block, in order. */
export function* locateLogs(
  block: StoredBlock,
  matches: (log: Log) => boolean,
  removed?: "removed",
): Generator<LocatedLog, void> {
  let logIndex = 0;
  for (const [transactionIndex, receipt] of block.receipts.entries()) {
    for (const log of receipt.logs) {
      if (matches(log)) {
        yield {
          log,
          blockNumber: block.header.number,
          blockHash: block.hash,
          transactionHash: expectDefined(block.transactions[transactionIndex], "the transaction of a receipt")
            .hash,
          transactionIndex,
          logIndex,
          removed: removed !== undefined,
        };
      }
      logIndex++;
    }
  }
}

/** Logs and bytes of log data in one batch: less than a millisecond of work. */
const LOGS_PER_BATCH = 100;
const DATA_PER_BATCH = 128 * 1024;
/** Receipts read in one slice of the event loop: a few milliseconds. */
const WORK_PER_SLICE = 2_000;
/** Cost of reading a header, in receipts, and number of criteria checked against its bloom at the cost of one receipt. */
const HEADER_WORK = 20;
const CRITERIA_PER_WORK = 10;
