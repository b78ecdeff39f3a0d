import { setImmediate as nextTurn } from "node:timers/promises";
import type { Address } from "../primitives/address.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { StoredBlock } from "../types/block.ts";
import { type BloomBits, bloomBits, hasBits } from "../types/bloom.ts";
import type { Log } from "../types/log.ts";
import type { ChainReader, LocatedLog } from "./chain.ts";

/** Which logs are wanted (json-rpc.md, eth_getLogs). No addresses means any address. */
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

export interface LogQueryLimits {
  /** Logs that one answer may hold. */
  readonly maxLogs: number;
  /** Stops the search once aborted. */
  readonly signal?: AbortSignal;
}

export type LogQueryResult =
  | { readonly kind: "found"; readonly logs: readonly LocatedLog[] }
  | { readonly kind: "tooManyLogs" }
  | { readonly kind: "aborted" };

/**
 * All wanted logs of canonical blocks in the range, in the order of block, transaction, log. Header blooms rule out
 * most blocks without reading their receipts. Between slices of work the event loop gets its turn, because consensus
 * shares the thread.
 */
export async function queryLogs(
  chain: ChainReader,
  criteria: LogCriteria,
  { from, to }: BlockRange,
  limits: LogQueryLimits,
): Promise<LogQueryResult> {
  const matcher = createLogMatcher(criteria);
  const logs: LocatedLog[] = [];
  let work = 0;
  for (let number = from; number <= to && number <= chain.head.header.number; number++) {
    const header = chain.headerByNumber(number)?.header;
    work += HEADER_WORK;
    if (header !== undefined && matcher.mayMatch(header.logsBloom)) {
      const block = chain.blockByNumber(number);
      if (block !== undefined) {
        matcher.collect(block, logs);
        work += block.receipts.length + 1;
      }
    }
    if (logs.length > limits.maxLogs) return { kind: "tooManyLogs" };
    if (work >= WORK_PER_TURN) {
      work = 0;
      await nextTurn();
      if (limits.signal?.aborted === true) return { kind: "aborted" };
    }
  }
  return { kind: "found", logs };
}

/** Criteria made ready for many blocks. */
export interface LogMatcher {
  /** False when no log under this header bloom can be wanted. */
  mayMatch(bloom: Uint8Array): boolean;
  /** Appends the wanted logs of a block to `into`. */
  collect(block: StoredBlock, into: LocatedLog[], removed?: "removed"): void;
}

export function createLogMatcher(criteria: LogCriteria): LogMatcher {
  const isImpossible = criteria.topics.some((choice) => choice !== "any" && choice.length === 0);
  const alternatives = [criteria.addresses, ...criteria.topics]
    .filter((choice) => choice !== "any" && choice.length > 0)
    .map((choice) => (choice === "any" ? [] : choice.map(bloomBits)));

  function mayMatch(bloom: Uint8Array): boolean {
    if (isImpossible) return false;
    return alternatives.every((choices: readonly BloomBits[]) =>
      choices.some((bits) => hasBits(bloom, bits)),
    );
  }

  return {
    mayMatch,
    collect(block, into, removed) {
      if (!mayMatch(block.header.logsBloom)) return;
      let logIndex = 0;
      for (const [transactionIndex, receipt] of block.receipts.entries()) {
        const transaction = block.transactions[transactionIndex];
        for (const log of receipt.logs) {
          if (transaction !== undefined && isWanted(log, criteria)) {
            into.push({
              log,
              blockNumber: block.header.number,
              blockHash: block.hash,
              transactionHash: transaction.hash,
              transactionIndex,
              logIndex,
              removed: removed !== undefined,
            });
          }
          logIndex++;
        }
      }
    },
  };
}

/** Receipts and headers that are looked at before the event loop gets its turn: a few milliseconds. */
const WORK_PER_TURN = 2_000;
/** What reading a header costs, in receipts. */
const HEADER_WORK = 20;

function isWanted(log: Log, { addresses, topics }: LogCriteria): boolean {
  if (addresses.length > 0 && !addresses.some((address) => equalBytes(address, log.address))) return false;
  if (log.topics.length < topics.length) return false;
  return topics.every((choice, position) => {
    if (choice === "any") return true;
    const topic = log.topics[position];
    return topic !== undefined && choice.some((wanted) => equalBytes(wanted, topic));
  });
}
