import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ChainReader, LocatedLog } from "../chain/chain.ts";
import { readReceipts } from "../chain/readReceipts.ts";
import type { Address } from "../primitives/address.ts";
import { expectDefined } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { EMPTY_BYTES, includesBytes } from "../primitives/hex.ts";
import type { StoredBlock } from "../types/block.ts";
import { BLOOM_BYTES, type BloomBits, bloomBits } from "../types/bloom.ts";
import type { Log } from "../types/log.ts";

/** Selects logs (json-rpc.md#eth_getlogs). No addresses means any address. */
export interface LogCriteria {
  readonly addresses: readonly Address[];
  /**
   * By position: "any", or a list, never empty, of which one must be equal. A log must have at least as many topics as
   * there are positions.
   */
  readonly topics: readonly ("any" | readonly Uint8Array[])[];
}

/** A range of block numbers, both ends included; `to` may lie beyond the head. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

export interface LogQueryListener {
  /** Receives matching logs; returns false to end the query because there are too many. It may yield. */
  take(logs: readonly LocatedLog[]): boolean | Promise<boolean>;
  /** True once the requester is gone. */
  isAbandoned?(): boolean;
}

/** How a query ended; "completed" when the listener has received all matching logs. */
export type LogQueryEnd = "completed" | "tooManyLogs" | "abandoned";

/**
 * Passes all matching logs of canonical blocks in the range to the listener, in the order of block, transaction and log.
 * It passes them in small batches, because a full block has too many for one slice of the event loop. Header blooms rule
 * out most blocks without reading their receipts. Yields between slices, because consensus shares the thread.
 */
export async function queryLogs(
  chain: ChainReader,
  criteria: LogCriteria,
  { from, to }: BlockRange,
  listener: LogQueryListener,
): Promise<LogQueryEnd> {
  const matcher = createLogMatcher(criteria);
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
      }
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

/** Criteria prepared for matching many blocks. */
export interface LogMatcher {
  /** Number of addresses and topics. */
  readonly criteria: number;
  /** False when no log under this header bloom can match. `at` is the offset of the bloom in `blooms`. */
  mayMatch(blooms: Uint8Array, at?: number): boolean;
  matches(log: Log): boolean;
  /** Appends the matching logs of a block to `into`. */
  collect(block: StoredBlock, into: LocatedLog[], removed?: "removed"): void;
}

export function createLogMatcher({ addresses, topics }: LogCriteria): LogMatcher {
  const blooms = [addresses, ...topics].flatMap((choice) =>
    choice === "any" || choice.length === 0 ? [] : [choice.map(bloomBits)],
  );
  const matchesAddress = addresses.length === 0 ? () => true : memberOf(addresses);
  const topicMatchers = topics.map((choice) => (choice === "any" ? () => true : memberOf(choice)));

  function mayMatch(bytes: Uint8Array, at = 0): boolean {
    if (blooms.length === 0) return hasAny(bytes, at);
    for (const choices of blooms) if (!hasOneOf(bytes, at, choices)) return false;
    return true;
  }

  function matches(log: Log): boolean {
    if (log.topics.length < topicMatchers.length || !matchesAddress(log.address)) return false;
    return topicMatchers.every((isMember, position) => isMember(log.topics[position] ?? EMPTY_BYTES));
  }

  return {
    criteria: blooms.reduce((sum, choices) => sum + choices.length, 0),
    mayMatch,
    matches,
    collect(block, into, removed) {
      if (!mayMatch(block.header.logsBloom)) return;
      for (const located of locateLogs(block, matches, removed)) into.push(located);
    },
  };
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

/** Whether a bloom is not empty, that is, whether the block has logs. */
function hasAny(bytes: Uint8Array, at: number): boolean {
  for (let offset = at; offset < at + BLOOM_BYTES; offset++) if (bytes[offset] !== 0) return true;
  return false;
}

/** Whether the bloom has the bits of any choice. Written out, because a search calls it a million times. */
function hasOneOf(bytes: Uint8Array, at: number, choices: readonly BloomBits[]): boolean {
  next: for (const bits of choices) {
    for (const { byte, mask } of bits) if (((bytes[at + byte] ?? 0) & mask) === 0) continue next;
    return true;
  }
  return false;
}

/** Logs and bytes of log data in one batch: less than a millisecond of work. */
const LOGS_PER_BATCH = 100;
const DATA_PER_BATCH = 128 * 1024;
/** Receipts read in one slice of the event loop: a few milliseconds. */
const WORK_PER_SLICE = 2_000;
/** Cost of reading a header, in receipts, and number of criteria checked against its bloom at the cost of one receipt. */
const HEADER_WORK = 20;
const CRITERIA_PER_WORK = 10;

/** Below this length, a list is searched faster than a set. */
const SHORT_LIST = 8;

function memberOf(list: readonly Uint8Array[]): (bytes: Uint8Array) => boolean {
  if (list.length < SHORT_LIST) return (bytes) => includesBytes(list, bytes);
  const keys = new Set(list.map(toKey));
  return (bytes) => keys.has(toKey(bytes));
}
