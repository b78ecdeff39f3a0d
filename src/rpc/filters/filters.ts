import type { ChainReader } from "../../chain/chainReader.ts";
import type { HeadChange } from "../../chain/onNewHead.ts";
import type { FindLogs, FoundLogs } from "../../logs/findLogs.ts";
import { createLogMatcher, type LogCriteria, type LogMatcher } from "../../logs/logMatcher.ts";
import { type BlockRange, locateLogs } from "../../logs/logQuery.ts";
import { logJson } from "../../logs/logResult.ts";
import { unpackCriteria } from "../../logs/packedCriteria.ts";
import { assertNever } from "../../primitives/assert.ts";
import type { Clock } from "../../primitives/clock.ts";
import { toHex } from "../../primitives/hex.ts";
import { EventLoopPacer } from "../../primitives/pacer.ts";
import { smaller } from "../../primitives/quantity.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import { numberOf } from "../parameters/blockParameter.ts";
import { FilterTable } from "./filterTable.ts";
import { HashHistory } from "./hashHistory.ts";
import type { PackedLogFilter } from "./packedLogFilter.ts";

/** Logs of removed blocks that may wait in a filter; a filter with more is removed. */
const WAITING_LIMIT = 10_000;

interface BlockFilter {
  readonly kind: "blocks";
  /** Number of the first block that the owner has not read. */
  nextBlock: bigint;
}

interface InstalledLogFilter {
  readonly kind: "logs";
  readonly packed: PackedLogFilter;
  /** Unpacked with the first poll: thousands of addresses take milliseconds, also of a filter that is refused. */
  criteria: LogCriteria | undefined;
  /** Made when blocks are removed, which is rare: for thousands of addresses it takes many milliseconds. */
  matcher: LogMatcher | undefined;
  nextBlock: bigint;
  /** JSON texts of logs that the owner has read and whose blocks were removed. */
  removed: string[];
  /** Settles when the last poll is over. */
  polled: Promise<unknown>;
}

interface PendingFilter {
  readonly kind: "pending";
  /** Position in the history of pooled transactions. */
  next: bigint;
}

type Filter = BlockFilter | InstalledLogFilter | PendingFilter;

interface FilterParts {
  readonly chain: ChainReader;
  readonly pool: Pick<TxPool, "onAdded">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly findLogs: FindLogs;
}

/**
 * The filters of eth_newFilter, eth_newBlockFilter and eth_newPendingTransactionFilter (json-rpc.md#filters). A filter
 * stores only how far its owner has read. Blocks and logs are looked up when polled, pooled transactions in one history
 * that all filters share. So an idle filter costs a few bytes, however busy the chain is.
 */
export class Filters {
  private readonly chain: ChainReader;
  private readonly findLogs: FindLogs;
  private readonly table: FilterTable<Filter>;
  private readonly pooled: PooledHashes;

  constructor({ chain, pool, clock, findLogs }: FilterParts) {
    this.chain = chain;
    this.findLogs = findLogs;
    this.table = new FilterTable<Filter>(clock);
    this.pooled = new PooledHashes(pool);
    chain.onHeadChanged("filters", (change) => this.onHeadChanged(change));
  }

  /** Returns the new filter's id, as the next two do, or undefined when the remote host has as many as its share. */
  addLogFilter(packed: PackedLogFilter, remoteHost: string): string | undefined {
    const nextBlock = after(this.chain);
    const polled = Promise.resolve();
    return this.table.add(
      { kind: "logs", packed, criteria: undefined, matcher: undefined, nextBlock, removed: [], polled },
      packed.count,
      remoteHost,
    );
  }

  addBlockFilter(remoteHost: string): string | undefined {
    return this.table.add({ kind: "blocks", nextBlock: after(this.chain) }, 0, remoteHost);
  }

  addPendingFilter(remoteHost: string): string | undefined {
    return this.table.add({ kind: "pending", next: this.pooled.history().end }, 0, remoteHost);
  }

  /** New hashes or logs since the last poll; undefined when there is no such filter. */
  async changes(id: string, requester: Requester): Promise<FoundLogs | undefined> {
    const filter = this.table.use(id);
    switch (filter?.kind) {
      case undefined:
        return undefined;
      case "blocks":
        return { kind: "found", pieces: await newBlocks(this.chain, filter) };
      case "logs": {
        // Polls run one after another: of two at a time the first may fail, and its logs would be given again with those of the second.
        const found = filter.polled.then(() => this.newLogs(filter, requester));
        filter.polled = found.then(nothing, nothing);
        return found;
      }
      case "pending": {
        const hashes = this.newHashes(filter);
        if (hashes === undefined) this.table.remove(id);
        return hashes && { kind: "found", pieces: hashes };
      }
      default:
        return assertNever(filter);
    }
  }

  /** All logs of a log filter's whole range; undefined when there is no such log filter. */
  async logs(id: string, requester: Requester): Promise<FoundLogs | undefined> {
    const installed = this.table.use(id);
    if (installed?.kind !== "logs") return undefined;
    const { packed } = installed;
    const range = { from: numberOf(this.chain, packed.from), to: numberOf(this.chain, packed.to) };
    return this.findLogs(criteriaOf(installed), range, requester);
  }

  remove(id: string): boolean {
    return this.table.remove(id);
  }

  private onHeadChanged(change: HeadChange): void {
    const { table } = this;
    table.clearExpired();
    if (change.removed.length > 0) this.onRemoved(change);
    if (!this.pooled.isKept) return;
    if (![...table.entries()].some(([, { kind }]) => kind === "pending")) this.pooled.stop();
  }

  private onRemoved(change: HeadChange): void {
    for (const [id, filter] of [...this.table.entries()]) {
      if (filter.kind === "pending") continue;
      rewindFilter(filter, change);
      if (filter.kind === "logs" && filter.removed.length > WAITING_LIMIT) this.table.remove(id);
    }
  }

  /** The logs since the last poll. A block number, or the tag `earliest`, is an upper bound for them; other tags are none. */
  private async newLogs(installed: InstalledLogFilter, requester: Requester): Promise<FoundLogs> {
    const { packed, removed } = installed;
    const { from, to } = takeRange(this.chain, installed);
    installed.removed = [];
    const last = packed.to === "earliest" ? 0n : packed.to;
    const range = { from, to: typeof last === "bigint" ? smaller(last, to) : to };
    const found = await this.findLogs(criteriaOf(installed), range, requester);
    if (found.kind === "found") return { kind: "found", pieces: [...removed, ...found.pieces] };
    if (found.kind !== "tooManyLogs") {
      // The owner has not received them, so the next poll returns them.
      if (from < installed.nextBlock) installed.nextBlock = from;
      installed.removed = [...removed, ...installed.removed];
    }
    return found;
  }

  /** Undefined when hashes were dropped from the history: the owner must learn that some are missing. */
  private newHashes(filter: PendingFilter): string[] | undefined {
    const hashes = this.pooled.history();
    const found = hashes.since(filter.next);
    filter.next = hashes.end;
    return found?.map((hash) => `"${toHex(hash)}"`);
  }
}

/** The history of pooled transactions, kept only while it is in use: it takes 8 MB. */
class PooledHashes {
  private readonly pool: Pick<TxPool, "onAdded">;
  private current: { readonly hashes: HashHistory; readonly stopListening: () => void } | undefined;

  constructor(pool: Pick<TxPool, "onAdded">) {
    this.pool = pool;
  }

  get isKept(): boolean {
    return this.current !== undefined;
  }

  /** The history from now on, or since it was begun. */
  history(): HashHistory {
    if (this.current === undefined) {
      const hashes = new HashHistory();
      const stopListening = this.pool.onAdded(({ transaction }) => hashes.push(transaction.hash));
      this.current = { hashes, stopListening };
    }
    return this.current.hashes;
  }

  /** Forgets the history. */
  stop(): void {
    this.current?.stopListening();
    this.current = undefined;
  }
}

/** Lets what was found be forgotten. */
function nothing(): void {}

function criteriaOf(installed: InstalledLogFilter): LogCriteria {
  installed.criteria ??= unpackCriteria(installed.packed);
  return installed.criteria;
}

function after({ head }: ChainReader): bigint {
  return head.header.number + 1n;
}

/** The range of a poll, marked as read before the first await, so that concurrent polls do not overlap. */
function takeRange(chain: ChainReader, filter: BlockFilter | InstalledLogFilter): BlockRange {
  const range = { from: filter.nextBlock, to: chain.head.header.number };
  filter.nextBlock = after(chain);
  return range;
}

async function newBlocks(chain: ChainReader, filter: BlockFilter): Promise<string[]> {
  const { from, to } = takeRange(chain, filter);
  const texts: string[] = [];
  const pacer = new EventLoopPacer();
  for (let number = from; number <= to; number++) {
    const named = chain.headerByNumber(number);
    if (named !== undefined) texts.push(`"${toHex(named.hash)}"`);
    if (pacer.isDue()) await pacer.yield();
  }
  return texts;
}

/** Moves a filter back before the removed blocks, and keeps the logs of those that its owner has read. */
function rewindFilter(filter: BlockFilter | InstalledLogFilter, { removed }: HeadChange): void {
  for (const block of removed.toReversed()) {
    if (filter.kind !== "logs" || block.header.number >= filter.nextBlock) continue;
    filter.matcher ??= createLogMatcher(criteriaOf(filter));
    if (!filter.matcher.mayMatch(block.header.logsBloom)) continue;
    for (const log of locateLogs(block, filter.matcher.matches, "removed")) filter.removed.push(logJson(log));
  }
  const lowest = removed.at(-1)?.header.number;
  if (lowest !== undefined && lowest < filter.nextBlock) filter.nextBlock = lowest;
}
