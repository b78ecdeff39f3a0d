import { setImmediate as nextTurn } from "node:timers/promises";
import type { ChainReader, LocatedLog } from "../chain/chain.ts";
import type { Address } from "../primitives/address.ts";
import { expectDefined } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { EMPTY_BYTES, includesBytes } from "../primitives/hex.ts";
import type { StoredBlock } from "../types/block.ts";
import { BLOOM_BYTES, type BloomBits, bloomBits } from "../types/bloom.ts";
import type { Log } from "../types/log.ts";

/** Which logs are wanted (json-rpc.md#eth_getlogs). No addresses means any address. */
export interface LogCriteria {
  readonly addresses: readonly Address[];
  /**
   * By position: "any", or a list of which one must be equal. An empty list lets nothing pass. A log must have at
   * least as many topics as there are positions.
   */
  readonly topics: readonly ("any" | readonly Uint8Array[])[];
}

/** Block numbers, both ends included; `to` may lie beyond the head. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

export interface LogQueryListener {
  /** Some wanted logs; false when there are too many by now. It may let others have their turn. */
  take(logs: readonly LocatedLog[]): boolean | Promise<boolean>;
  /** True once nobody waits for the answer any more. */
  isAbandoned?(): boolean;
}

/** How it ended; "told" when the listener has heard of all. */
export type LogQueryEnd = "told" | "tooManyLogs" | "abandoned";

/**
 * Tells of all wanted logs of canonical blocks in the range, in the order of block, transaction, log, some at a time: those
 * of a full block are so many that neither they nor what is made of them can be had in one go. Header blooms rule out
 * most blocks without reading their receipts. Between slices of work the event loop gets its turn, because consensus
 * shares the thread.
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
      if (block !== undefined) {
        const end = await queryBlock(block, matcher, listener);
        if (end !== "told") return end;
        work += block.receipts.length + 1;
      }
    }
    if (work >= WORK_PER_TURN) {
      work = 0;
      await nextTurn();
      if (listener.isAbandoned?.() === true) return "abandoned";
    }
  }
  return "told";
}

async function queryBlock(
  block: StoredBlock,
  matcher: LogMatcher,
  listener: LogQueryListener,
): Promise<LogQueryEnd> {
  let some: LocatedLog[] = [];
  let dataBytes = 0;
  for (const located of locateLogs(block, matcher.isWanted)) {
    dataBytes += located.log.data.length;
    if (some.push(located) < LOGS_AT_ONCE && dataBytes < DATA_AT_ONCE) continue;
    const answer = listener.take(some);
    if (!(answer instanceof Promise ? await answer : answer)) return "tooManyLogs";
    if (listener.isAbandoned?.() === true) return "abandoned";
    some = [];
    dataBytes = 0;
  }
  return some.length === 0 || (await listener.take(some)) ? "told" : "tooManyLogs";
}

/** Criteria made ready for many blocks. */
export interface LogMatcher {
  /** Addresses and topics to look for. */
  readonly criteria: number;
  /** False when no log under this header bloom can be wanted. The bloom may lie `at` a place among others. */
  mayMatch(blooms: Uint8Array, at?: number): boolean;
  isWanted(log: Log): boolean;
  /** Appends the wanted logs of a block to `into`. */
  collect(block: StoredBlock, into: LocatedLog[], removed?: "removed"): void;
}

export function createLogMatcher({ addresses, topics }: LogCriteria): LogMatcher {
  const isImpossible = topics.some((choice) => choice !== "any" && choice.length === 0);
  const blooms = [addresses, ...topics].flatMap((choice) =>
    choice === "any" || choice.length === 0 ? [] : [choice.map(bloomBits)],
  );
  const isWantedAddress = addresses.length === 0 ? () => true : memberOf(addresses);
  const isWantedTopic = topics.map((choice) => (choice === "any" ? () => true : memberOf(choice)));

  function mayMatch(bytes: Uint8Array, at = 0): boolean {
    if (isImpossible) return false;
    if (blooms.length === 0) return hasAny(bytes, at);
    for (const choices of blooms) if (!hasOneOf(bytes, at, choices)) return false;
    return true;
  }

  function isWanted(log: Log): boolean {
    if (log.topics.length < isWantedTopic.length || !isWantedAddress(log.address)) return false;
    return isWantedTopic.every((isMember, position) => isMember(log.topics[position] ?? EMPTY_BYTES));
  }

  return {
    criteria: blooms.reduce((sum, choices) => sum + choices.length, 0),
    mayMatch,
    isWanted,
    collect(block, into, removed) {
      if (!mayMatch(block.header.logsBloom)) return;
      for (const located of locateLogs(block, isWanted, removed)) into.push(located);
    },
  };
}

/** The logs of a block that are wanted, in their order. */
export function* locateLogs(
  block: StoredBlock,
  isWanted: (log: Log) => boolean,
  removed?: "removed",
): Generator<LocatedLog, void> {
  let logIndex = 0;
  for (const [transactionIndex, receipt] of block.receipts.entries()) {
    for (const log of receipt.logs) {
      if (isWanted(log)) {
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

/** A block without a single log has an empty bloom. */
function hasAny(bytes: Uint8Array, at: number): boolean {
  for (let offset = at; offset < at + BLOOM_BYTES; offset++) if (bytes[offset] !== 0) return true;
  return false;
}

/** As hasBits of any of `choices`; written out, because a search asks it a million times. */
function hasOneOf(bytes: Uint8Array, at: number, choices: readonly BloomBits[]): boolean {
  next: for (const bits of choices) {
    for (const { byte, mask } of bits) if (((bytes[at + byte] ?? 0) & mask) === 0) continue next;
    return true;
  }
  return false;
}

/** Less than a millisecond's work. */
const LOGS_AT_ONCE = 100;
const DATA_AT_ONCE = 128 * 1024;
/** Receipts that are looked at before the event loop gets its turn: a few milliseconds. */
const WORK_PER_TURN = 2_000;
/** What reading a header costs, in receipts, and how many criteria can be looked up in its bloom for one receipt. */
const HEADER_WORK = 20;
const CRITERIA_PER_WORK = 10;

/** Below this a list is searched faster than a set. */
const FEW = 8;

function memberOf(list: readonly Uint8Array[]): (bytes: Uint8Array) => boolean {
  if (list.length < FEW) return (bytes) => includesBytes(list, bytes);
  const keys = new Set(list.map(toKey));
  return (bytes) => keys.has(toKey(bytes));
}
