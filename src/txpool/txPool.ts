import type { Address } from "../primitives/address.ts";
import { expectDefined } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Hash } from "../primitives/hash.ts";
import { ok, type Result } from "../primitives/result.ts";
import type { SentTransaction, Transaction } from "../types/transaction.ts";
import {
  type AdmissionError,
  checkPrice,
  checkSender,
  checkSoundness,
  type IncomingTransaction,
} from "./admission.ts";
import type { PoolEntry, PooledEntry, TransactionOrigin } from "./entry.ts";
import { EntryStore } from "./entryStore.ts";
import { type PoolErrorCode, poolError } from "./errors.ts";
import { createPoolEventEmitter, type PoolEvents, type RemovalCause, type SubPool } from "./events.ts";
import { createEvictionOrder } from "./evictionOrder.ts";
import type { BlockFloors, TxPoolLimits } from "./limits.ts";
import { type Arrival, openSelection, type Selection } from "./ordering.ts";
import type { PoolParts } from "./ports.ts";
import { mayReplace, priceBumpPercent } from "./replacement.ts";
import { type SenderAccount, SenderQueue } from "./senderQueue.ts";
import { breakDown, type PoolBreakdown } from "./subPoolCounts.ts";

export type { PoolEntry, TransactionOrigin } from "./entry.ts";
export type { Selection } from "./ordering.ts";
export type { PoolChainView, PoolParts, PoolRules } from "./ports.ts";

/**
 * The transactions waiting for a block.
 *
 *     add ──> admission ──> replacement ──> the sender's queue ──> eviction, if the pool is full
 *               (rows of Besu's table)            pending │ queued
 *                                                    └──> ordering ──> select ──> a block
 *     headChanged ──> mined ones leave, nonces move, gaps close or open, rewound transactions return
 *
 * Invariants between any two calls: every entry is in exactly one queue, that of its sender; a sender's pending nonces
 * run unbroken from the account's nonce; one nonce of a sender has one entry; count and bytes are within the limits.
 *
 * Not done here: recovering senders (callers, on workers), announcing (network), notifying subscribers (rpc), and the
 * final decision whether a transaction can be executed (execution). Of a sender's account the pool follows only the
 * nonce. The balance is checked once, at admission: later the entry stays, as in Besu, until a block builder finds the
 * balance insufficient and drops it.
 */
export interface TxPool extends PoolEvents {
  /** Validates and adds a transaction whose sender is known; `origin` tells local callers' transactions from peers'. */
  add(transaction: SentTransaction, origin: TransactionOrigin): Result<PoolEntry, PoolErrorCode>;
  get(hash: Hash): PoolEntry | undefined;
  /** All entries, pending and queued, in no particular order. */
  entries(): Iterable<PoolEntry>;
  /** First nonce that is used neither on chain nor in the sender's unbroken run of pooled transactions. */
  nextNonce(sender: Address): bigint;
  /**
   * Pending transactions in block order: prioritized ones, then by effective priority fee, then by arrival, each sender
   * in nonce order. Transactions without priority below the block floors are left out. The selection is live:
   * transactions that arrive while it is read may still be returned. Entries of senders that are no longer on the
   * account allowlist are removed first.
   */
  select(baseFeePerGas: bigint | undefined): Selection;
  /** Why a peer's transaction would be rejected for any sender; undefined when that depends on the sender. */
  screen(transaction: Transaction): PoolErrorCode | undefined;
  /** Drops a transaction that can never be included (found invalid while building). */
  drop(hash: Hash, reason: string): void;
  /** Drops transactions older than the retention time; to be called from time to time. */
  expire(): void;
  /** Applies a new head: mined transactions are removed, nonces are followed, transactions of removed blocks return. */
  headChanged(change: PoolHeadChange): void;
  /** Price floors for transactions without priority in local blocks (miner_getMinGasPrice, miner_getMinPriorityFee). */
  readonly blockFloors: BlockFloors;
  /** Takes effect with the next selection (miner_setMinGasPrice, miner_setMinPriorityFee). */
  changeBlockFloors(floors: Partial<BlockFloors>): void;
  readonly statistics: PoolStatistics;
  /** More detailed than the statistics, and slower. */
  breakdown(): PoolBreakdown;
}

/** New blocks, oldest first, and removed ones after a rewind, newest first. */
export interface PoolHeadChange {
  readonly added: readonly { readonly transactions: readonly SentTransaction[] }[];
  readonly removed: readonly { readonly transactions: readonly SentTransaction[] }[];
}

export interface PoolStatistics {
  readonly pending: number;
  readonly queued: number;
  readonly local: number;
  readonly remote: number;
  readonly bytes: number;
}

/** Creates an empty pool. `limits` are the operator's; DEFAULT_TX_POOL_LIMITS (limits.ts) has a default for each. */
export function createTxPool(limits: TxPoolLimits, parts: PoolParts): TxPool {
  const { chain, clock } = parts;
  const store = new EntryStore();
  const eviction = createEvictionOrder(store.queues, () => chain.nextBaseFeePerGas);
  const prioritySenders: ReadonlySet<string> = new Set(limits.prioritySenders.map(toKey));
  const bumpPercent = priceBumpPercent({
    configuredPercent: limits.priceBumpPercent,
    isZeroBaseFee: chain.rules.isZeroBaseFee,
    minGasPriceWei: limits.blockFloors.minGasPriceWei,
  });
  const emitter = createPoolEventEmitter();
  let blockFloors = limits.blockFloors;
  let newestArrival: Arrival = {};
  /** Counts heads, so that accounts cached under an older one are read again. */
  let generation = 0;
  let arrived = 0;

  function readAccount(sender: Address): SenderAccount {
    return {
      nonce: chain.nonce(sender),
      balanceWei: chain.balanceWei(sender),
      isContract: chain.isContract(sender),
    };
  }

  /** The sender's queue, updated to this head; undefined when the pool has no transactions of the sender. */
  function queueOf(senderKey: string): SenderQueue | undefined {
    const queue = store.queues.get(senderKey);
    if (queue === undefined || queue.generation === generation) return queue;
    queue.account = readAccount(queue.sender);
    queue.generation = generation;
    followNonce(queue, queue.account.nonce);
    return queue.isEmpty ? undefined : queue;
  }

  /** Removes entries with used nonces: as mined if they are in `mined`, else as superseded. */
  function followNonce(queue: SenderQueue, nonce: bigint, mined: ReadonlySet<PooledEntry> = NONE): void {
    if (nonce === queue.firstNonce) return;
    eviction.invalidate();
    const runEnd = queue.nextNonce;
    for (const entry of store.moveTo(queue, nonce)) {
      const subPool = entry.transaction.nonce < runEnd ? "pending" : "queued";
      emitter.removed({ entry, cause: mined.has(entry) ? "mined" : "superseded", subPool });
    }
  }

  function incomingOf(transaction: SentTransaction, origin: TransactionOrigin): IncomingTransaction {
    const isPrioritySender = prioritySenders.size > 0 && prioritySenders.has(toKey(transaction.sender));
    return {
      transaction,
      origin,
      isPrioritized: isPrioritySender || (origin === "local" && limits.hasLocalPriority),
    };
  }

  function admit(incoming: IncomingTransaction): Result<PoolEntry, PoolErrorCode> {
    const { sender } = incoming.transaction;
    const senderKey = toKey(sender);
    const openQueue = (): SenderQueue =>
      queueOf(senderKey) ?? new SenderQueue(sender, senderKey, readAccount(sender), generation);
    let queue: SenderQueue | undefined;
    const readSender = (): SenderAccount => {
      queue = openQueue();
      return queue.account;
    };
    const rejection = checkSoundness(incoming, limits, chain) ?? checkSender(incoming, parts, readSender);
    if (rejection !== undefined) return rejection;
    queue ??= openQueue();
    return checkSenderSlot(incoming, queue) ?? ok(insert(incoming, queue));
  }

  /** Rows 16 to 18: replacement, nonce distance and pool state. */
  function checkSenderSlot({ transaction, origin }: IncomingTransaction, queue: SenderQueue): AdmissionError {
    const { nonce } = transaction;
    const existing = queue.get(nonce)?.transaction;
    const config = { bumpPercent, baseFeePerGas: chain.nextBaseFeePerGas };
    if (existing !== undefined && !mayReplace(existing, transaction, config)) {
      return poolError(
        "replacementUnderpriced",
        origin,
        `nonce ${nonce} has a transaction that pays as much`,
      );
    }
    const next = queue.nextNonce;
    if (existing === undefined && nonce - next >= limits.maxFutureBySender) {
      const message = `nonce ${nonce} lies ${limits.maxFutureBySender} or more beyond ${next}`;
      return poolError("nonceTooDistant", origin, message, { nonce, next });
    }
    if (parts.isOpen?.() === false) return poolError("poolDisabled", origin, "the pool is closed");
    return undefined;
  }

  /** Inserts the transaction; a full pool may evict it, or others, at once (row 19). */
  function insert(incoming: IncomingTransaction, queue: SenderQueue): PoolEntry {
    const { transaction, origin, isPrioritized } = incoming;
    const entry: PooledEntry = {
      transaction,
      origin,
      isPrioritized,
      addedAtMs: clock.nowMs(),
      sequence: arrived++,
      key: toKey(transaction.hash),
      senderKey: queue.key,
      evictionScore: 0,
    };
    const replaced = store.insert(entry, queue);
    eviction.inserted(queue, entry);
    newestArrival.queue = queue;
    newestArrival.next = {};
    newestArrival = newestArrival.next;
    const subPool = subPoolOf(queue, entry);
    if (replaced !== undefined) emitter.removed({ entry: replaced, cause: "replaced", subPool });
    if (makeRoom(entry)) emitter.added(entry, subPool);
    return entry;
  }

  /**
   * Evicts entries until the pool is within its limits again. An incoming transaction larger than the whole pool is
   * evicted alone. False when the incoming one was evicted.
   */
  function makeRoom(incoming: PooledEntry): boolean {
    const isOversized = incoming.transaction.raw.length > limits.maxBytes;
    let stays = true;
    while (store.size > limits.maxTransactions || store.bytes > limits.maxBytes) {
      const entry = isOversized ? incoming : expectDefined(eviction.worst(), "an entry of a full pool");
      if (entry === incoming) stays = false;
      evict(entry, entry === incoming ? "poolFull" : "evicted");
    }
    return stays;
  }

  function evict(entry: PooledEntry, cause: RemovalCause, reason?: string): void {
    const queue = expectDefined(store.queues.get(entry.senderKey), "the queue of an entry");
    const subPool = subPoolOf(queue, entry);
    const wasLast = queue.last === entry;
    store.remove(entry);
    if (wasLast) eviction.lastRemoved(queue);
    else eviction.invalidate();
    emitter.removed({ entry, cause, subPool }, reason);
  }

  /** Removes entries of senders that are no longer on the account allowlist; Besu checks it again for a block, too. */
  function evictUnpermitted(): void {
    const { isSenderPermitted } = parts;
    if (isSenderPermitted === undefined) return;
    for (const queue of store.queues.values()) {
      if (isSenderPermitted(queue.sender)) continue;
      for (const entry of [...queue.entries()].reverse()) evict(entry, "notPermitted");
    }
  }

  /**
   * Restores the transactions of removed blocks, oldest first. They were valid in a block of this chain, so they are
   * treated as local ones, without price checks. Those that no longer fit the rules or the state are dropped.
   */
  function restoreRemoved({ added, removed }: PoolHeadChange): void {
    const mined = new Set(added.flatMap(({ transactions }) => transactions.map(({ hash }) => toKey(hash))));
    for (const { transactions } of removed.toReversed()) {
      for (const transaction of transactions) {
        const key = toKey(transaction.hash);
        if (!mined.has(key) && !store.has(key)) admit(incomingOf(transaction, "local"));
      }
    }
  }

  function validate(incoming: IncomingTransaction): Result<PoolEntry, PoolErrorCode> {
    if (store.has(toKey(incoming.transaction.hash))) {
      return poolError("knownTransaction", incoming.origin, "the transaction is in the pool already");
    }
    return checkPrice(incoming, limits, chain) ?? admit(incoming);
  }

  return {
    ...emitter.events,
    add(transaction, origin) {
      const incoming = incomingOf(transaction, origin);
      const result = validate(incoming);
      if (!result.ok) emitter.refused({ ...incoming, code: result.error.code });
      return result;
    },
    screen(transaction) {
      const incoming = { transaction, origin: "remote", isPrioritized: false } as const;
      // Prioritized transactions are exempt from the price check, and priority depends on the sender.
      const price = prioritySenders.size > 0 ? undefined : checkPrice(incoming, limits, chain);
      const rejection = price ?? checkSoundness(incoming, limits, chain);
      if (rejection === undefined) return undefined;
      emitter.refused({ ...incoming, code: rejection.error.code });
      return rejection.error.code;
    },
    get: (hash) => store.get(toKey(hash)),
    entries: () => store.entries(),
    nextNonce: (sender) => queueOf(toKey(sender))?.nextNonce ?? chain.nonce(sender),
    select(baseFeePerGas) {
      evictUnpermitted();
      return openSelection(store.queues.values(), newestArrival, {
        baseFeePerGas,
        floors: blockFloors,
        maxTransactions: limits.maxPrioritized,
      });
    },
    drop(hash, reason) {
      const found = store.get(toKey(hash));
      if (found === undefined) return;
      // The nonce may have moved without a transaction of the sender (EIP-7702): then the entry is removed here.
      queueOf(found.senderKey);
      if (store.has(found.key)) evict(found, "invalid", reason);
    },
    expire() {
      const oldestMs = clock.nowMs() - limits.retentionMs;
      for (const entry of store.entries()) {
        if (entry.addedAtMs < oldestMs) evict(entry, "expired");
      }
    },
    headChanged({ added, removed }) {
      generation++;
      eviction.invalidate();
      const mined = new Set<PooledEntry>();
      const touched = new Set(removed.length > 0 ? store.queues.values() : []);
      for (const { transactions } of added) {
        for (const { hash, sender } of transactions) {
          const entry = store.get(toKey(hash));
          if (entry !== undefined) mined.add(entry);
          const queue = store.queues.get(entry?.senderKey ?? toKey(sender));
          if (queue !== undefined) touched.add(queue);
        }
      }
      for (const queue of touched) followNonce(queue, chain.nonce(queue.sender), mined);
      if (removed.length > 0) restoreRemoved({ added, removed });
    },
    get blockFloors() {
      return blockFloors;
    },
    changeBlockFloors(floors) {
      blockFloors = { ...blockFloors, ...floors };
    },
    get statistics() {
      const { size, localCount, bytes } = store;
      let pending = 0;
      for (const queue of store.queues.values()) pending += queue.pendingCount;
      return { pending, queued: size - pending, local: localCount, remote: size - localCount, bytes };
    },
    breakdown: () => breakDown(store.queues.values()),
  };
}

const NONE: ReadonlySet<PooledEntry> = new Set();

/** The sub-pool of an entry. */
function subPoolOf(queue: SenderQueue, { transaction }: PooledEntry): SubPool {
  return transaction.nonce < queue.nextNonce ? "pending" : "queued";
}
