import type { Address } from "../primitives/address.ts";
import { expectDefined } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { effectivePriorityFee, type Transaction } from "../types/transaction.ts";
import type { StoredEntry } from "./entry.ts";
import { EntryStore } from "./entryStore.ts";
import type { PoolEventEmitter, RemovalCause, SubPool } from "./events.ts";
import { EvictionOrder, hasRoom, makeRoom } from "./eviction.ts";
import type { TxPoolLimits } from "./limits.ts";
import { occupiedBytes } from "./occupancy.ts";
import { type Arrival, Selection, type SelectionConfig } from "./ordering.ts";
import type { PoolChainView, PoolHeadChange } from "./ports.ts";
import { type SenderAccount, SenderQueue } from "./senderQueue.ts";
import type { PoolStatistics } from "./subPoolCounts.ts";

/**
 * Number of transactions between two heads that are considered as replacements although they pay no more than the cheapest
 * entry of the full pool. Where gas is free all transactions pay the same, and each of a flood of them would cost a sender
 * recovery.
 */
export const REPLACEMENT_TRIES = 500;

/**
 * The entries of the pool: keeps them within the limits and in step with the head, and emits an event for each that is added
 * or removed. Senders whose transactions were mined follow the head at once, the others at their next use.
 */
export class PoolEntries {
  readonly #limits: Pick<TxPoolLimits, "maxTransactions" | "maxBytes">;
  readonly #chain: PoolChainView;
  readonly #emitter: PoolEventEmitter;
  readonly #store = new EntryStore();
  readonly #eviction: EvictionOrder;
  #newestArrival: Arrival = {};
  /** Counts heads, so that accounts cached under an older one are read again. */
  #generation = 0;
  /** Number of transactions that may still be considered as replacements until the next head. */
  #replacementTries = REPLACEMENT_TRIES;

  constructor(
    limits: Pick<TxPoolLimits, "maxTransactions" | "maxBytes">,
    chain: PoolChainView,
    emitter: PoolEventEmitter,
  ) {
    this.#limits = limits;
    this.#chain = chain;
    this.#emitter = emitter;
    this.#eviction = new EvictionOrder(this.#store.queues, () => chain.nextBaseFeePerGas);
  }

  /** `key` is the hex of the transaction's hash. */
  has(key: string): boolean {
    return this.#store.has(key);
  }

  get(key: string): StoredEntry | undefined {
    return this.#store.get(key);
  }

  all(): Iterable<StoredEntry> {
    return this.#store.entries();
  }

  queues(): Iterable<SenderQueue> {
    return this.#store.queues.values();
  }

  get statistics(): PoolStatistics {
    const { size, localCount, bytes } = this.#store;
    let pending = 0;
    for (const queue of this.queues()) pending += queue.pendingCount;
    return { pending, queued: size - pending, local: localCount, remote: size - localCount, bytes };
  }

  /** The sender's queue, updated to this head; undefined when the pool has no transactions of the sender. */
  queueOf(senderKey: string): SenderQueue | undefined {
    const queue = this.#store.queues.get(senderKey);
    if (queue === undefined || queue.generation === this.#generation) return queue;
    queue.account = this.#readAccount(queue.sender);
    queue.generation = this.#generation;
    this.#followNonce(queue, queue.account.nonce);
    return queue.isEmpty ? undefined : queue;
  }

  /**
   * Like queueOf, but returns an empty queue for a sender without transactions; the pool keeps it only when an entry is inserted
   * into it.
   */
  openQueue(sender: Address, senderKey: string): SenderQueue {
    return (
      this.queueOf(senderKey) ??
      new SenderQueue(sender, senderKey, this.#readAccount(sender), this.#generation)
    );
  }

  /**
   * Inserts an entry, or replaces the one of its nonce; a full pool may evict others. Returns false, with the pool
   * unchanged, when the entry itself would be evicted first.
   */
  insert(entry: StoredEntry, queue: SenderQueue): boolean {
    const replaced = this.#store.insert(entry, queue);
    this.#eviction.inserted(queue, entry);
    const evicted = this.#evictFor(entry, { queue, replaced });
    if (evicted === undefined) return false;
    this.#newestArrival.queue = queue;
    this.#newestArrival.next = {};
    this.#newestArrival = this.#newestArrival.next;
    const subPool = subPoolOf(queue, entry);
    if (replaced !== undefined) this.#emitter.removed({ entry: replaced, cause: "replaced", subPool });
    for (const gone of evicted) {
      this.#emitter.removed({ entry: gone.entry, subPool: gone.subPool, cause: "evicted" });
    }
    this.#emitter.added(entry, subPool);
    return true;
  }

  /**
   * Whether price alone keeps a transaction out of the full pool, whatever its sender: all entries are executable, so there is
   * no gap to fill, and each of them pays more, so there is none to replace. A transaction that pays as much as the cheapest
   * could only replace an entry, and only its sender decides that: false for the first REPLACEMENT_TRIES of them after each
   * head, which are counted here. Also false when everything depends on the sender, and for a pooled transaction.
   */
  refusesOutbid(transaction: Transaction, isPrioritized: boolean): boolean {
    const { size, bytes, prioritizedCount, queues } = this.#store;
    if (hasRoom({ size: size + 1, bytes: bytes + occupiedBytes(transaction) }, this.#limits)) return false;
    // In a pool of both kinds, the worst entry need not have the lowest price.
    const isMixed = prioritizedCount !== 0 && prioritizedCount !== size;
    if (isMixed || (isPrioritized && prioritizedCount === 0)) return false;
    const worst = this.#eviction.worst();
    if (worst === undefined || queues.get(worst.senderKey)?.queuedCount !== 0) return false;
    const fee = Number(effectivePriorityFee(transaction, this.#chain.nextBaseFeePerGas));
    if (fee !== worst.evictionScore) return fee < worst.evictionScore;
    return !this.#store.has(toKey(transaction.hash)) && !this.#takeReplacementTry();
  }

  #takeReplacementTry(): boolean {
    if (this.#replacementTries === 0) return false;
    this.#replacementTries--;
    return true;
  }

  remove(entry: StoredEntry, cause: RemovalCause, reason?: string): void {
    const { subPool } = this.#take(entry);
    this.#emitter.removed({ entry, cause, subPool }, reason);
  }

  /** Removes mined entries, and those whose nonces were used by other transactions. */
  followHead({ added, removed }: PoolHeadChange): void {
    this.#generation++;
    this.#replacementTries = REPLACEMENT_TRIES;
    this.#eviction.invalidate();
    const mined = new Set<StoredEntry>();
    const touched = new Set(removed.length > 0 ? this.queues() : []);
    for (const { transactions } of added) {
      for (const { hash, sender } of transactions) {
        const entry = this.#store.get(toKey(hash));
        if (entry !== undefined) mined.add(entry);
        const queue = this.#store.queues.get(entry?.senderKey ?? toKey(sender));
        if (queue !== undefined) touched.add(queue);
      }
    }
    for (const queue of touched) this.#followNonce(queue, this.#chain.nonce(queue.sender), mined);
  }

  /** Entries that arrive later are selected as well. */
  select(config: SelectionConfig): Selection {
    return new Selection(this.queues(), this.#newestArrival, config);
  }

  #readAccount(sender: Address): SenderAccount {
    return {
      nonce: this.#chain.nonce(sender),
      balanceWei: this.#chain.balanceWei(sender),
      isContract: this.#chain.isContract(sender),
    };
  }

  /** Removes entries with used nonces: as mined if they are in `mined`, else as superseded. */
  #followNonce(queue: SenderQueue, nonce: bigint, mined: ReadonlySet<StoredEntry> = NONE): void {
    if (nonce === queue.firstNonce) return;
    this.#eviction.invalidate();
    const runEnd = queue.nextNonce;
    for (const entry of this.#store.moveTo(queue, nonce)) {
      const subPool = entry.transaction.nonce < runEnd ? "pending" : "queued";
      this.#emitter.removed({ entry, cause: mined.has(entry) ? "mined" : "superseded", subPool });
    }
  }

  /** The entries evicted for the incoming one; undefined when it cannot stay, with the pool as it was before. */
  #evictFor(incoming: StoredEntry, { queue, replaced }: Insertion): readonly Departed[] | undefined {
    if (hasRoom(this.#store, this.#limits)) return [];
    return makeRoom<Departed>(incoming, {
      pool: this.#store,
      limits: this.#limits,
      order: this.#eviction,
      take: (entry) => this.#take(entry),
      removeIncoming: () => {
        if (replaced === undefined) this.#takeOut(incoming, queue);
        else this.#putIn(replaced, queue);
      },
      putBack: (gone) => this.#putIn(gone.entry, gone.queue),
    });
  }

  #take(entry: StoredEntry): Departed {
    const queue = expectDefined(this.#store.queues.get(entry.senderKey), "the queue of an entry");
    const subPool = subPoolOf(queue, entry);
    this.#takeOut(entry, queue);
    return { entry, queue, subPool };
  }

  #takeOut(entry: StoredEntry, queue: SenderQueue): void {
    const wasLast = queue.last === entry;
    this.#store.remove(entry);
    if (wasLast) this.#eviction.lastRemoved(queue);
    else this.#eviction.invalidate();
  }

  #putIn(entry: StoredEntry, queue: SenderQueue): void {
    this.#store.insert(entry, queue);
    this.#eviction.inserted(queue, entry);
  }
}

interface Insertion {
  readonly queue: SenderQueue;
  readonly replaced: StoredEntry | undefined;
}

interface Departed {
  readonly entry: StoredEntry;
  readonly queue: SenderQueue;
  /** The entry's last sub-pool. */
  readonly subPool: SubPool;
}

const NONE: ReadonlySet<StoredEntry> = new Set();

function subPoolOf(queue: SenderQueue, { transaction }: StoredEntry): SubPool {
  return transaction.nonce < queue.nextNonce ? "pending" : "queued";
}
