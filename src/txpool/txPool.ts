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
import { breakDown, type PoolBreakdown } from "./breakdown.ts";
import type { PoolEntry, PooledEntry, TransactionOrigin } from "./entry.ts";
import { EntryStore } from "./entryStore.ts";
import { type PoolErrorCode, poolError } from "./errors.ts";
import { createPoolEventEmitter, type PoolEvents, type RemovalCause, type SubPool } from "./events.ts";
import { createEvictionOrder } from "./eviction.ts";
import type { BlockFloors, TxPoolLimits } from "./limits.ts";
import { type Arrival, openSelection, type Selection } from "./ordering.ts";
import type { PoolParts } from "./ports.ts";
import { mayReplace, priceBumpPercent } from "./replacement.ts";
import { type SenderAccount, SenderQueue } from "./senderQueue.ts";

export type { PoolEntry, TransactionOrigin } from "./entry.ts";
export type { Selection } from "./ordering.ts";
export type { PoolChainView, PoolParts, PoolRules } from "./ports.ts";

/**
 * The transactions waiting for a block.
 *
 *     add ──> admission ──> replacement ──> the sender's queue ──> eviction, if that was one too many
 *               (rows of the incumbent's table)   pending │ queued
 *                                                    └──> ordering ──> select ──> a block
 *     headChanged ──> mined ones leave, nonces move, gaps close or open, a rewound block's ones return
 *
 * What holds between any two calls: every entry is in exactly one queue, that of its sender; a sender's pending nonces
 * run unbroken from the account's nonce; one nonce of a sender has one entry; count and bytes are within the limits.
 *
 * Left to others: recovering senders (the doors, on workers), announcing (network), telling subscribers (rpc), and
 * judging in the end whether a transaction can be executed (execution). Of a sender's account the pool follows only
 * the nonce. Whether the balance still covers an entry is asked once, at the door: later it stays, as with the
 * incumbent, until a block builder finds it wanting and drops it.
 */
export interface TxPool extends PoolEvents {
  /** Judges and keeps a transaction whose sender is known; `origin` tells those of our own callers from peers'. */
  add(transaction: SentTransaction, origin: TransactionOrigin): Result<PoolEntry, PoolErrorCode>;
  get(hash: Hash): PoolEntry | undefined;
  /** All entries, pending and queued, in no particular order. */
  entries(): Iterable<PoolEntry>;
  /** First nonce that the sender has not used on chain or in an unbroken run of pooled transactions. */
  nextNonce(sender: Address): bigint;
  /**
   * Pending transactions in the order a block should take them: prioritized ones, then by effective priority fee, then
   * by arrival, each sender in nonce order. Without priority, those below the block floors are left out. The selection
   * lives on while it is being read: what arrives meanwhile may still come. Senders whom the account allowlist leaves
   * out by now lose what they have here.
   */
  select(baseFeePerGas: bigint | undefined): Selection;
  /** Why a peer's transaction would be refused whoever sent it; undefined where that takes its sender to tell. */
  screen(transaction: Transaction): PoolErrorCode | undefined;
  /** Forgets a transaction that can never be included (found invalid while building). */
  drop(hash: Hash, reason: string): void;
  /** Sends away what has been here for longer than transactions are kept; to be called now and then. */
  expire(): void;
  /** Tells the pool of new blocks: mined transactions leave, nonces are followed, those of removed blocks return. */
  headChanged(change: PoolHeadChange): void;
  /** What a transaction without priority must pay in a block of ours (miner_getMinGasPrice, miner_getMinPriorityFee). */
  readonly blockFloors: BlockFloors;
  /** Holds from the next selection on (miner_setMinGasPrice, miner_setMinPriorityFee). */
  changeBlockFloors(floors: Partial<BlockFloors>): void;
  readonly statistics: PoolStatistics;
  /** As the statistics, in more detail and at a higher price. */
  breakdown(): PoolBreakdown;
}

/** New blocks, oldest first, and those a rewind took away, newest first. */
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

/** An empty pool. `limits` are the operator's; DEFAULT_TX_POOL_LIMITS (limits.ts) has one for each. */
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
  /** Counts heads, so that accounts read under an older one are read again. */
  let generation = 0;
  let arrived = 0;

  function readAccount(sender: Address): SenderAccount {
    return {
      nonce: chain.nonce(sender),
      balanceWei: chain.balanceWei(sender),
      isContract: chain.isContract(sender),
    };
  }

  /** The sender's queue, its account as of this head; undefined when the pool holds nothing of the sender's. */
  function queueOf(senderKey: string): SenderQueue | undefined {
    const queue = store.queues.get(senderKey);
    if (queue === undefined || queue.generation === generation) return queue;
    queue.account = readAccount(queue.sender);
    queue.generation = generation;
    followNonce(queue, queue.account.nonce);
    return queue.isEmpty ? undefined : queue;
  }

  /** Entries whose nonces are used by now leave: as mined, where they are named so. */
  function followNonce(queue: SenderQueue, nonce: bigint, mined: ReadonlySet<PooledEntry> = NONE): void {
    if (nonce === queue.firstNonce) return;
    eviction.invalidate();
    const runEnd = queue.nextNonce;
    for (const entry of store.moveTo(queue, nonce)) {
      const place = entry.transaction.nonce < runEnd ? "pending" : "queued";
      emitter.removed({ entry, cause: mined.has(entry) ? "mined" : "superseded", subPool: place });
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
    return checkPlace(incoming, queue) ?? ok(place(incoming, queue));
  }

  /** Rows 16 to 18: whether there is a place for the transaction among its sender's. */
  function checkPlace({ transaction, origin }: IncomingTransaction, queue: SenderQueue): AdmissionError {
    const { nonce } = transaction;
    const existing = queue.get(nonce)?.transaction;
    const config = { bumpPercent, baseFeePerGas: chain.nextBaseFeePerGas };
    if (existing !== undefined && !mayReplace(existing, transaction, config)) {
      return poolError("replacementUnderpriced", origin, `nonce ${nonce} is held by one that pays as much`);
    }
    const next = queue.nextNonce;
    if (existing === undefined && nonce - next >= limits.maxFutureBySender) {
      const message = `nonce ${nonce} lies ${limits.maxFutureBySender} or more beyond ${next}`;
      return poolError("nonceTooDistant", origin, message, { nonce, next });
    }
    if (parts.isOpen?.() === false) return poolError("poolDisabled", origin, "the pool takes nothing now");
    return undefined;
  }

  /** Takes the applicant in; a full pool may send it, or others, straight out again (row 19). */
  function place(incoming: IncomingTransaction, queue: SenderQueue): PoolEntry {
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
    if (replaced !== undefined) emitter.removed({ entry: replaced, cause: "replaced", subPool: subPool });
    if (makeRoom(entry)) emitter.added(entry, subPool);
    return entry;
  }

  /**
   * Sends entries away until the pool is within its limits again. A newcomer too large for any pool goes alone. False
   * when the newcomer is among those that left.
   */
  function makeRoom(incoming: PooledEntry): boolean {
    const isOversized = incoming.transaction.raw.length > limits.maxBytes;
    let stays = true;
    while (store.size > limits.maxTransactions || store.bytes > limits.maxBytes) {
      const entry = isOversized ? incoming : expectDefined(eviction.worst(), "an entry of an overfull pool");
      if (entry === incoming) stays = false;
      evict(entry, entry === incoming ? "poolFull" : "evicted");
    }
    return stays;
  }

  function evict(entry: PooledEntry, cause: RemovalCause, reason?: string): void {
    const queue = expectDefined(store.queues.get(entry.senderKey), "the queue of an entry");
    const place = subPoolOf(queue, entry);
    const wasLast = queue.last === entry;
    store.remove(entry);
    if (wasLast) eviction.lastRemoved(queue);
    else eviction.invalidate();
    emitter.removed({ entry, cause, subPool: place }, reason);
  }

  /** The account allowlist may have changed since they came in; the incumbent, too, asks it again for a block. */
  function evictUnpermitted(): void {
    const { isSenderPermitted } = parts;
    if (isSenderPermitted === undefined) return;
    for (const queue of store.queues.values()) {
      if (isSenderPermitted(queue.sender)) continue;
      for (const entry of [...queue.entries()].reverse()) evict(entry, "notPermitted");
    }
  }

  /**
   * What a removed block held comes back, oldest first. It was good enough for a block of this chain, so it is treated
   * as our own callers' are, prices unasked. What no longer fits the rules or the state is let go.
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
      // The price of one with priority is not asked, and who has priority is known by the sender.
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
      // The nonce may have moved without a transaction of the sender's (EIP-7702): then the entry leaves here.
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

/** Where an entry of the queue stands. */
function subPoolOf(queue: SenderQueue, { transaction }: PooledEntry): SubPool {
  return transaction.nonce < queue.nextNonce ? "pending" : "queued";
}
