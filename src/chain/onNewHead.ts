import type { Logger } from "../observability/logger.ts";
import type { NamedHeader, StoredBlock } from "../types/block.ts";

/** The head moved: `added` are the new blocks, oldest first; `removed` are those that a rewind removed, newest first. */
export interface HeadChange {
  readonly head: NamedHeader;
  readonly added: readonly StoredBlock[];
  readonly removed: readonly StoredBlock[];
}

/**
 * Who is notified of a new head, in this order, once it is durable. The order does not depend on when a part was opened.
 *
 * The first group brings the node's own knowledge up to the new head, so that no later listener reads a stale answer. Then
 * consensus begins the next height; the pool that it builds from is up to date by then. The threads for callers are notified
 * before peers; waiting calls and subscribers on this thread come after peers, and before all background work.
 *
 * On a thread for callers, whose view of the chain has its own listeners, only the rows of `rpc` are used.
 */
export const HEAD_LISTENERS = [
  /** chain: forgets blocks that were executed ahead, and learns how long the committed ones took. */
  "executedBlocks",
  /** chain: the head in shared memory. A caller that is notified of a head finds it on every thread. */
  "shownHead",
  /** txpool: drops what was mined, and counts nonces from the new state. */
  "pool",
  /** txpool: mined transactions, which peers may send again without a penalty. */
  "minedTransactions",
  /** txpool: local transactions that blocks have room for and leave out. */
  "unminedWatch",
  /** logs: the blooms of the new block. */
  "logIndex",
  /** consensus: the protocol's next height. */
  "consensus",
  /** chain: the line about the block. */
  "blockLog",
  /** network: frees the places of peers that are no longer validators. */
  "connections",
  /** chain: when the block arrived; a caller that is notified of it may ask. */
  "arrivals",
  /** rpc: changes since a filter's last poll. */
  "filters",
  /** rpc: prices that fees are suggested from. */
  "feeSamples",
  /** callers: the threads for callers, which then refresh their views. */
  "callerThreads",
  /** metrics: counters of blocks, gas and transactions. */
  "metrics",
  /** consensus and sync: messages kept for the height, the announcement to peers, and the search for further blocks. */
  "peers",
  /** rpc: calls that wait for the inclusion of their transaction. */
  "inclusionWaits",
  /** rpc: subscribers of this thread. */
  "subscriptions",
  /** warmup: ends when the chain has work of its own. */
  "warmUp",
  /** accounts: the index by address, on its thread. */
  "accountIndex",
  /** state, storage: states and blocks beyond the kept history. */
  "removal",
] as const;

/** A row of HEAD_LISTENERS. */
export type HeadListener = (typeof HEAD_LISTENERS)[number];

/** The listeners of one chain, or of one view of it. */
export class HeadListeners {
  private readonly rows = new Map<HeadListener, Set<(change: HeadChange) => void>>(
    HEAD_LISTENERS.map((row) => [row, new Set()]),
  );
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Listeners of the same row are called in the order in which they were added. Returns a function that removes this one. */
  add(row: HeadListener, listener: (change: HeadChange) => void): () => void {
    const listeners = this.rows.get(row);
    listeners?.add(listener);
    return () => listeners?.delete(listener);
  }

  /** Called after the move. A listener that throws does not affect the others. */
  announce(change: HeadChange): void {
    for (const [row, listeners] of this.rows)
      for (const listener of [...listeners]) {
        try {
          listener(change);
        } catch (error) {
          const { number } = change.head.header;
          this.logger.error({ number, listener: row, error }, "a listener of head changes failed");
        }
      }
  }
}
