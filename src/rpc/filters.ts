import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ChainReader, HeadChange, LocatedLog } from "../chain/chain.ts";
import { createLogMatcher, type LogMatcher, type LogQueryResult, queryLogs } from "../chain/logQuery.ts";
import type { Clock } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { bytesToBigint, toQuantity } from "../primitives/quantity.ts";
import type { TxPool } from "../txpool/txPool.ts";
import { numberOf } from "./blockParameter.ts";
import { createHashHistory, type HashHistory } from "./hashHistory.ts";
import type { LogFilter } from "./logFilterParameter.ts";
import { logTexts } from "./logResult.ts";

/**
 * What eth_newFilter and its kin install (json-rpc.md, Filters). A filter remembers how far its owner has read, not
 * what there is to read: blocks and logs are looked up when polled, pooled transactions in one history that all
 * filters share. So an idle filter costs a few bytes, however busy the chain is.
 *
 * A filter that nobody polls for ten minutes is gone; it is cleared away when the head moves, so no timer is needed.
 */
export interface Filters {
  /** Each answers the new filter's id, or undefined when there are too many filters. */
  addLogFilter(filter: LogFilter): string | undefined;
  addBlockFilter(): string | undefined;
  addPendingFilter(): string | undefined;
  /** JSON texts of what is new since the last poll; undefined when there is no such filter. */
  changes(id: string): Promise<readonly string[] | "tooManyLogs" | undefined>;
  /** All logs of a log filter's whole range; undefined when there is no such log filter. */
  logs(id: string): Promise<LogQueryResult | undefined>;
  remove(id: string): boolean;
}

export const FILTER_LIFETIME_MS = 10 * 60 * 1000;
/** Filters installed at one time. */
export const FILTER_LIMIT = 10_000;
/** Addresses and topics that all filters together may hold. */
const CRITERIA_LIMIT = 200_000;
/** Answers that may wait in one filter because blocks were taken back; a filter with more is dropped. */
const WAITING_LIMIT = 10_000;
/** Logs in one answer. */
export const FILTER_LOGS_LIMIT = 200_000;
/** Headers read before the event loop gets its turn. */
const HEADERS_PER_TURN = 500;

interface Entry {
  readonly kind: "blocks" | "logs" | "pending";
  lastUsedMs: number;
  /** Where the owner's next poll begins: a block number, or a place in the history of pooled transactions. */
  position: bigint;
  /** JSON texts that a rewind of the chain left for the next poll. */
  waiting: string[];
  readonly logs?: { readonly filter: LogFilter; readonly matcher: LogMatcher };
}

export function createFilters(parts: {
  readonly chain: ChainReader;
  readonly pool: Pick<TxPool, "onAdded">;
  readonly clock: Pick<Clock, "nowMs">;
}): Filters {
  const { chain, pool, clock } = parts;
  /** The one that was used longest ago comes first. */
  const entries = new Map<string, Entry>();
  let criteria = 0;
  let history: { readonly hashes: HashHistory; readonly stop: () => void } | undefined;

  chain.onHeadChanged((change) => {
    clearExpired();
    if (change.removed.length === 0) return;
    for (const [id, entry] of entries) {
      takeBack(entry, change);
      if (entry.waiting.length > WAITING_LIMIT) remove(id);
    }
  });

  function add(entry: Omit<Entry, "lastUsedMs" | "waiting">): string | undefined {
    clearExpired();
    const size = sizeOf(entry);
    if (entries.size >= FILTER_LIMIT || criteria + size > CRITERIA_LIMIT) return undefined;
    criteria += size;
    const id = toQuantity(bytesToBigint(randomBytes(16)));
    entries.set(id, { ...entry, lastUsedMs: clock.nowMs(), waiting: [] });
    return id;
  }

  function remove(id: string): boolean {
    const entry = entries.get(id);
    if (entry === undefined) return false;
    entries.delete(id);
    criteria -= sizeOf(entry);
    if (history !== undefined && ![...entries.values()].some(({ kind }) => kind === "pending")) {
      history.stop();
      history = undefined;
    }
    return true;
  }

  function clearExpired(): void {
    for (const [id, { lastUsedMs }] of entries) {
      if (clock.nowMs() - lastUsedMs < FILTER_LIFETIME_MS) return;
      remove(id);
    }
  }

  /** The entry, marked as used now. */
  function use(id: string): Entry | undefined {
    clearExpired();
    const entry = entries.get(id);
    if (entry === undefined) return undefined;
    entry.lastUsedMs = clock.nowMs();
    entries.delete(id);
    entries.set(id, entry);
    return entry;
  }

  function startHistory(): HashHistory {
    if (history === undefined) {
      const hashes = createHashHistory();
      history = { hashes, stop: pool.onAdded(({ transaction }) => hashes.push(transaction.hash)) };
    }
    return history.hashes;
  }

  return {
    addLogFilter: (filter) =>
      add({
        kind: "logs",
        position: chain.head.header.number + 1n,
        logs: { filter, matcher: createLogMatcher(filter) },
      }),
    addBlockFilter: () => add({ kind: "blocks", position: chain.head.header.number + 1n }),
    addPendingFilter: () => add({ kind: "pending", position: startHistory().end }),
    async changes(id) {
      const entry = use(id);
      if (entry === undefined) return undefined;
      const from = entry.position;
      const waiting = entry.waiting;
      entry.waiting = [];
      if (entry.kind === "pending") {
        const recent = startHistory().since(from);
        if (recent === undefined) {
          remove(id);
          return undefined;
        }
        entry.position = startHistory().end;
        return recent.map((hash) => `"${toHex(hash)}"`);
      }
      const head = chain.head.header.number;
      entry.position = head + 1n;
      if (entry.logs === undefined) return [...waiting, ...(await blockHashes(chain, from, head))];
      const found = await queryLogs(
        chain,
        entry.logs.filter,
        { from, to: lastWanted(entry.logs.filter, head) },
        { maxLogs: FILTER_LOGS_LIMIT },
      );
      return found.kind === "found" ? [...waiting, ...logTexts(found.logs)] : "tooManyLogs";
    },
    async logs(id) {
      const filter = entries.get(id)?.logs && use(id)?.logs?.filter;
      if (filter === undefined) return undefined;
      const range = { from: numberOf(chain, filter.from), to: numberOf(chain, filter.to) };
      return queryLogs(chain, filter, range, { maxLogs: FILTER_LOGS_LIMIT });
    },
    remove,
  };
}

/** Leaves for the next poll what the owner must know of blocks that were taken back, and sets the entry before them. */
function takeBack(entry: Entry, { removed }: HeadChange): void {
  if (entry.kind === "pending") return;
  for (const block of removed) {
    const wasRead = block.header.number < entry.position;
    if (entry.logs !== undefined && wasRead) {
      const logs: LocatedLog[] = [];
      entry.logs.matcher.collect(block, logs, "removed");
      entry.waiting.push(...logTexts(logs));
    }
    if (entry.kind === "blocks" && !wasRead) entry.waiting.push(`"${toHex(block.hash)}"`);
  }
  const lowest = removed.at(-1)?.header.number;
  if (lowest !== undefined && lowest < entry.position) entry.position = lowest;
}

async function blockHashes(chain: ChainReader, from: bigint, to: bigint): Promise<string[]> {
  const texts: string[] = [];
  for (let number = from; number <= to; number++) {
    const named = chain.headerByNumber(number);
    if (named !== undefined) texts.push(`"${toHex(named.hash)}"`);
    if (texts.length % HEADERS_PER_TURN === 0) await nextTurn();
  }
  return texts;
}

/** Only a number bounds what a filter sees of the future; a tag does not. */
function lastWanted({ to }: LogFilter, head: bigint): bigint {
  if (to === "earliest") return 0n;
  return typeof to === "bigint" && to < head ? to : head;
}

function sizeOf({ logs }: Pick<Entry, "logs">): number {
  if (logs === undefined) return 0;
  const { addresses, topics } = logs.filter;
  return topics.reduce((sum, choice) => sum + (choice === "any" ? 0 : choice.length), addresses.length);
}
