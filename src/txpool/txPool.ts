import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Hash } from "../primitives/hash.ts";
import { ok, type Result } from "../primitives/result.ts";
import type { SentTransaction, Transaction } from "../types/transaction.ts";
import {
  type AdmissionError,
  checkAccount,
  checkPrice,
  checkSender,
  checkSoundness,
  type IncomingTransaction,
} from "./admission.ts";
import type { PoolEntry, StoredEntry, TransactionOrigin } from "./entry.ts";
import { type PoolErrorCode, poolError } from "./errors.ts";
import { PoolEventEmitter, type PoolEvents } from "./events.ts";
import type { BlockFloors, TxPoolLimits } from "./limits.ts";
import { occupiedBytes } from "./occupancy.ts";
import type { Selection } from "./ordering.ts";
import { PoolEntries } from "./poolEntries.ts";
import type { PoolChainView, PoolHeadChange, PoolParts, SenderPermission } from "./ports.ts";
import { mayReplace, priceBumpPercent } from "./replacement.ts";
import type { SenderAccount, SenderQueue } from "./senderQueue.ts";
import { breakDown, type PoolBreakdown, type PoolStatistics } from "./subPoolCounts.ts";
import { judgeWaiting, type NewestBlock, type WaitingTransaction } from "./waitingReason.ts";

/**
 * The transactions waiting for a block.
 *
 *     add ──> admission ──> replacement ──> the sender's queue ──> eviction, if the pool is full: another one goes,
 *               (in the order of Besu)            pending │ queued         or the incoming one is refused
 *                                                    └──> ordering ──> select ──> a block
 *     headChanged ──> mined ones leave, nonces move, gaps close or open, rewound transactions return
 *
 * Invariants between any two calls: every entry is in exactly one queue, that of its sender; a sender's pending nonces run
 * unbroken from the account's nonce; one nonce of a sender has one entry; count and bytes are within the limits.
 *
 * Not done here: recovering senders (callers, on workers), announcing (network), notifying subscribers (rpc), and the final
 * decision whether a transaction can be executed (execution). The pool follows only the nonce of a sender's account. The
 * balance is checked once, at admission: later the entry stays, as in Besu, until a block builder finds the balance
 * insufficient and drops it.
 */
export class TxPool implements PoolEvents {
  readonly onAdded: PoolEvents["onAdded"];
  readonly onDropped: PoolEvents["onDropped"];
  readonly onRemoved: PoolEvents["onRemoved"];
  readonly onRefused: PoolEvents["onRefused"];
  readonly #limits: TxPoolLimits;
  readonly #parts: PoolParts;
  readonly #chain: PoolChainView;
  readonly #emitter = new PoolEventEmitter();
  readonly #entries: PoolEntries;
  readonly #prioritySenders: ReadonlySet<string>;
  readonly #bumpPercent: number;
  #isSaturated = false;
  #blockFloors: BlockFloors;
  readonly #floorListeners: ((floors: BlockFloors) => void)[] = [];
  #arrived = 0;

  /** Creates an empty pool. `limits` are the operator's; DEFAULT_TX_POOL_LIMITS (limits.ts) has a default for each. */
  constructor(limits: TxPoolLimits, parts: PoolParts) {
    const { chain } = parts;
    const { events } = this.#emitter;
    this.onAdded = events.onAdded;
    this.onDropped = events.onDropped;
    this.onRemoved = events.onRemoved;
    this.onRefused = events.onRefused;
    this.#limits = limits;
    this.#parts = parts;
    this.#chain = chain;
    this.#entries = new PoolEntries(limits, chain, this.#emitter);
    this.#prioritySenders = new Set(limits.prioritySenders.map(toKey));
    this.#bumpPercent = priceBumpPercent({
      configuredPercent: limits.priceBumpPercent,
      isZeroBaseFee: chain.rules.isZeroBaseFee,
      minGasPriceWei: limits.blockFloors.minGasPriceWei,
    });
    this.#blockFloors = limits.blockFloors;
    this.onRemoved(() => {
      this.#isSaturated = false;
    });
  }

  /**
   * Validates and adds a transaction whose sender is known; `origin` distinguishes local callers' transactions from peers'.
   * `permission` is that of the account contract, if one decides who may send.
   */
  add(
    transaction: SentTransaction,
    origin: TransactionOrigin,
    permission: SenderPermission = "permitted",
  ): Result<PoolEntry, PoolErrorCode> {
    const incoming = { ...this.#incomingOf(transaction, origin), permission };
    const result = this.#validate(incoming, toKey(transaction.hash));
    if (!result.ok) this.#noteRefused(incoming, result.error.code);
    return result;
  }

  /**
   * Why a transaction is rejected before its sender is known; undefined when the sender decides. A caller's transaction is
   * screened only while the pool is full: all its checks follow once the sender is known. A full pool rejects a
   * transaction that pays less than every entry. Of those that pay as much as the cheapest entry, it looks at some between two heads,
   * and rejects the rest.
   */
  screen(transaction: Transaction, origin: TransactionOrigin): PoolErrorCode | undefined {
    const isPrioritized = origin === "local" && this.#limits.hasLocalPriority;
    const incoming = { transaction, origin, isPrioritized };
    // Prioritized transactions are exempt from the price check, and priority may depend on the sender.
    const isPriorityKnown = isPrioritized || this.#prioritySenders.size === 0;
    const isOutbid = isPriorityKnown && this.#entries.refusesOutbid(transaction, isPrioritized);
    if (origin === "local" && !isOutbid) return undefined;
    const price = isPriorityKnown ? checkPrice(incoming, this.#limits, this.#chain) : undefined;
    const code = (price ?? checkSoundness(incoming, this.#limits, this.#chain))?.error.code;
    const reason = code ?? (isOutbid ? "poolFull" : undefined);
    if (reason !== undefined) this.#noteRefused(incoming, reason);
    return reason;
  }

  /**
   * Whether the account contract must be asked about the transaction: no check before the contract's rejects it. A peer hears
   * of no rejection, so for its transaction the checks of the sender's account and of a replacement come first as well.
   */
  mustAskContract(transaction: SentTransaction, origin: TransactionOrigin): boolean {
    if (this.#entries.has(toKey(transaction.hash)) || this.#chain.isStateAvailable === false) return false;
    const incoming = this.#incomingOf(transaction, origin);
    const rejection =
      checkPrice(incoming, this.#limits, this.#chain) ?? checkSoundness(incoming, this.#limits, this.#chain);
    if (rejection !== undefined) return false;
    if (origin === "local") return true;
    const queue = this.#entries.openQueue(transaction.sender, toKey(transaction.sender));
    return (checkAccount(incoming, queue.account) ?? this.#checkReplacement(incoming, queue)) === undefined;
  }

  /**
   * True from the time the full pool refuses a peer's transaction until an entry leaves: others need not be fetched
   * meanwhile.
   */
  get isSaturated(): boolean {
    return this.#isSaturated;
  }

  get(hash: Hash): PoolEntry | undefined {
    return this.#entries.get(toKey(hash));
  }

  /** All entries, pending and queued, in no particular order. */
  entries(): Iterable<PoolEntry> {
    return this.#entries.all();
  }

  /** First nonce that is used neither on chain nor in the sender's unbroken run of pooled transactions. */
  nextNonce(sender: Address): bigint {
    return this.#entries.queueOf(toKey(sender))?.nextNonce ?? this.#chain.nonce(sender);
  }

  /** Why an entry waits after the newest block; undefined when it has left the pool. */
  whyWaiting(entry: PoolEntry, newest: NewestBlock): WaitingTransaction | undefined {
    const queue = this.#entries.queueOf(toKey(entry.transaction.sender));
    if (queue?.get(entry.transaction.nonce) !== entry) return undefined;
    return judgeWaiting(entry, {
      floors: this.#blockFloors,
      baseFeePerGas: this.#chain.nextBaseFeePerGas,
      account: queue.account,
      nextNonce: queue.nextNonce,
      newest,
    });
  }

  /**
   * Pending transactions in block order: prioritized ones, then by effective priority fee, then by arrival, each sender
   * in nonce order. Transactions without priority below the block floors are left out. The selection is live:
   * transactions that arrive while it is read may still be returned. Entries of senders that are no longer on the
   * account allowlist are removed first.
   */
  select(baseFeePerGas: bigint | undefined): Selection {
    this.#removeUnpermitted();
    return this.#entries.select({
      baseFeePerGas,
      floors: this.#blockFloors,
      maxTransactions: this.#limits.maxPrioritized,
    });
  }

  /** Drops a transaction that can never be included (found invalid while building). */
  drop(hash: Hash, reason: string): void {
    const found = this.#entries.get(toKey(hash));
    if (found === undefined) return;
    // The nonce may have moved without a transaction of the sender (EIP-7702): then the entry is removed here.
    this.#entries.queueOf(found.senderKey);
    if (this.#entries.has(found.key)) this.#entries.remove(found, "invalid", reason);
  }

  /** Drops transactions older than the retention time; must be called periodically. */
  expire(): void {
    const oldestMs = this.#parts.clock.nowMs() - this.#limits.retentionMs;
    for (const entry of this.#entries.all()) {
      if (entry.addedAtMs < oldestMs) this.#entries.remove(entry, "expired");
    }
  }

  /** Applies a new head: mined transactions are removed, nonces are followed, transactions of removed blocks return. */
  headChanged(change: PoolHeadChange): void {
    this.#entries.followHead(change);
    if (change.removed.length > 0) this.#restoreRemoved(change);
  }

  /** Price floors for transactions without priority in local blocks (miner_getMinGasPrice, miner_getMinPriorityFee). */
  get blockFloors(): BlockFloors {
    return this.#blockFloors;
  }

  /** Takes effect with the next selection (miner_setMinGasPrice, miner_setMinPriorityFee). */
  changeBlockFloors(floors: Partial<BlockFloors>): void {
    this.#blockFloors = { ...this.#blockFloors, ...floors };
    for (const listener of this.#floorListeners) listener(this.#blockFloors);
  }

  /** Calls `listener` after each change, before the caller gets its answer. */
  onFloorsChanged(listener: (floors: BlockFloors) => void): void {
    this.#floorListeners.push(listener);
  }

  get statistics(): PoolStatistics {
    return this.#entries.statistics;
  }

  /** Counts the pool in more detail than the statistics; takes longer. */
  breakdown(): PoolBreakdown {
    return breakDown(this.#entries.queues());
  }

  #incomingOf(transaction: SentTransaction, origin: TransactionOrigin): IncomingTransaction {
    const isPrioritySender =
      this.#prioritySenders.size > 0 && this.#prioritySenders.has(toKey(transaction.sender));
    return {
      transaction,
      origin,
      isPrioritized: isPrioritySender || (origin === "local" && this.#limits.hasLocalPriority),
    };
  }

  /** `key` is the hex of the transaction's hash. */
  #validate(incoming: IncomingTransaction, key: string): Result<PoolEntry, PoolErrorCode> {
    if (this.#entries.has(key)) {
      return poolError("knownTransaction", incoming.origin, "the transaction is in the pool already");
    }
    return checkPrice(incoming, this.#limits, this.#chain) ?? this.#admit(incoming, key);
  }

  #admit(incoming: IncomingTransaction, key: string): Result<PoolEntry, PoolErrorCode> {
    const { sender } = incoming.transaction;
    const senderKey = toKey(sender);
    let queue: SenderQueue | undefined;
    const readSender = (): SenderAccount => {
      queue = this.#entries.openQueue(sender, senderKey);
      return queue.account;
    };
    const rejection =
      checkSoundness(incoming, this.#limits, this.#chain) ?? checkSender(incoming, this.#parts, readSender);
    if (rejection !== undefined) return rejection;
    queue ??= this.#entries.openQueue(sender, senderKey);
    const misplaced = this.#checkSenderSlot(incoming, queue);
    if (misplaced !== undefined) return misplaced;
    // What rejected the transaction before, so that the contract was not asked, has changed meanwhile.
    if (incoming.permission === "notAsked")
      return poolError("stateUnavailable", incoming.origin, "the account contract was not asked");
    return this.#insert(incoming, key, queue);
  }

  /** Checks replacement and nonce distance. */
  #checkSenderSlot({ transaction, origin }: IncomingTransaction, queue: SenderQueue): AdmissionError {
    const underpriced = this.#checkReplacement({ transaction, origin }, queue);
    if (underpriced !== undefined) return underpriced;
    const { nonce } = transaction;
    const { maxFutureBySender } = this.#limits;
    const next = queue.nextNonce;
    if (queue.get(nonce) === undefined && nonce - next >= maxFutureBySender) {
      const message = `nonce ${nonce} lies ${maxFutureBySender} or more beyond ${next}`;
      return poolError("nonceTooDistant", origin, message, { nonce, next });
    }
    return undefined;
  }

  /** Checks that a replacement offers enough more than what it replaces. */
  #checkReplacement(
    { transaction, origin }: Pick<IncomingTransaction, "transaction" | "origin">,
    queue: SenderQueue,
  ): AdmissionError {
    const { nonce } = transaction;
    const existing = queue.get(nonce)?.transaction;
    const config = { bumpPercent: this.#bumpPercent, baseFeePerGas: this.#chain.nextBaseFeePerGas };
    if (existing === undefined || mayReplace(existing, transaction, config)) return undefined;
    return poolError("replacementUnderpriced", origin, `nonce ${nonce} has a transaction that pays as much`);
  }

  /** Refuses what the full pool would evict first. */
  #insert(
    { transaction, origin, isPrioritized }: IncomingTransaction,
    key: string,
    queue: SenderQueue,
  ): Result<PoolEntry, PoolErrorCode> {
    const entry: StoredEntry = {
      transaction,
      origin,
      isPrioritized,
      addedAtMs: this.#parts.clock.nowMs(),
      sequence: this.#arrived++,
      key,
      senderKey: queue.key,
      occupiedBytes: occupiedBytes(transaction),
      evictionScore: 0,
    };
    if (this.#entries.insert(entry, queue)) return ok(entry);
    return poolError("poolFull", origin, "the pool is full, and it would be the first to leave");
  }

  #noteRefused(incoming: IncomingTransaction<Transaction>, code: PoolErrorCode): void {
    if (code === "poolFull" && incoming.origin === "remote") this.#isSaturated = true;
    this.#emitter.refused({ ...incoming, code });
  }

  /** Removes entries of senders that are no longer on the account allowlist; Besu checks it again for a block, too. */
  #removeUnpermitted(): void {
    const { isSenderPermitted } = this.#parts;
    if (isSenderPermitted === undefined) return;
    for (const queue of this.#entries.queues()) {
      if (isSenderPermitted(queue.sender)) continue;
      for (const entry of [...queue.entries()].reverse()) this.#entries.remove(entry, "notPermitted");
    }
  }

  /**
   * Restores the transactions of removed blocks, oldest first. They were valid in a block of this chain, so they are
   * treated as local ones, without price checks. Those that no longer fit the rules or the state are dropped.
   */
  #restoreRemoved({ added, removed }: PoolHeadChange): void {
    const mined = new Set(added.flatMap(({ transactions }) => transactions.map(({ hash }) => toKey(hash))));
    for (const { transactions } of removed.toReversed()) {
      for (const transaction of transactions) {
        const key = toKey(transaction.hash);
        if (!mined.has(key) && !this.#entries.has(key))
          this.#admit(this.#incomingOf(transaction, "local"), key);
      }
    }
  }
}
