import { effectivePriorityFee, type SentTransaction } from "../types/transaction.ts";
import type { StoredEntry } from "./entry.ts";
import { Heap } from "./heap.ts";
import { type BlockFloors, missedFloor } from "./limits.ts";
import type { SenderQueue } from "./senderQueue.ts";

/**
 * A node in the linked list of arrivals: the pool appends to its end, each selection follows it at its own pace, and
 * nodes that all selections have passed are garbage collected. So selections need no closing, and the pool does not
 * track them.
 */
export interface Arrival {
  /** The queue that gained a transaction; absent in the last node, which is filled later. */
  queue?: SenderQueue;
  next?: Arrival;
}

export interface SelectionConfig {
  readonly baseFeePerGas: bigint | undefined;
  readonly floors: BlockFloors;
  readonly maxTransactions: number;
}

/** A selection's position in one sender's queue. Mutable: a block has thousands of steps. */
interface Cursor {
  queue: SenderQueue;
  /** Nonce of the sender's next transaction for this block. */
  nonce: bigint;
  /** The pending entry at `nonce`; undefined while none may be included. */
  entry: StoredEntry | undefined;
  feeWei: bigint;
  /** feeWei as a double, which decides nearly every comparison without bigints. */
  roughFee: number;
  isSkipped: boolean;
}

/**
 * Reads pending transactions for one block. Returns each sender's transactions in nonce order, and among the senders' next
 * ones always the best: prioritized first, then by what it pays the beneficiary under `baseFeePerGas`, then by arrival.
 * Senders are in one heap, so a step costs O(log senders).
 *
 * A sender whose next transaction does not pay the base fee or the floors is skipped until a replacement arrives.
 */
export class Selection {
  readonly #config: SelectionConfig;
  readonly #cursors = new Map<string, Cursor>();
  readonly #heap: Heap<Cursor>;
  #seen: Arrival;
  #taken = 0;
  #current: Cursor | undefined;

  constructor(queues: Iterable<SenderQueue>, arrivals: Arrival, config: SelectionConfig) {
    this.#config = config;
    this.#seen = arrivals;
    const ready: Cursor[] = [];
    for (const queue of queues) {
      if (queue.pendingCount === 0) continue;
      const cursor = openCursor(queue);
      this.#cursors.set(queue.key, cursor);
      if (pointAtNonce(cursor, config)) ready.push(cursor);
    }
    this.#heap = new Heap(isBefore, ready);
  }

  /** The best transaction not yet returned, or undefined when there is none now. */
  next(): SentTransaction | undefined {
    this.#advanceCurrent();
    this.#takeArrivals();
    if (this.#taken >= this.#config.maxTransactions) return undefined;
    for (let top = this.#heap.peek(); top !== undefined; top = this.#heap.peek()) {
      if (top.entry !== undefined && top.queue.pendingAt(top.nonce) === top.entry) {
        this.#taken++;
        this.#current = top;
        return top.entry.transaction;
      }
      this.#settleTop(top);
    }
    return undefined;
  }

  /** Skips the rest of the sender's transactions for this block, because the one just returned does not fit. */
  skipSender(): void {
    if (this.#current !== undefined) this.#current.isSkipped = true;
  }

  /** Advances or removes the current cursor, which is still on top of the heap. */
  #advanceCurrent(): void {
    if (this.#current === undefined) return;
    this.#current.nonce++;
    this.#settleTop(this.#current);
    this.#current = undefined;
  }

  #settleTop(cursor: Cursor): void {
    if (!cursor.isSkipped && pointAtNonce(cursor, this.#config)) this.#heap.topChanged();
    else this.#heap.pop();
  }

  /** Adds idle senders that have gained a transaction. */
  #takeArrivals(): void {
    while (this.#seen.next !== undefined) {
      if (this.#seen.queue !== undefined) this.#wake(this.#seen.queue);
      this.#seen = this.#seen.next;
    }
  }

  #wake(queue: SenderQueue): void {
    let cursor = this.#cursors.get(queue.key);
    if (cursor === undefined) {
      cursor = openCursor(queue);
      this.#cursors.set(queue.key, cursor);
    }
    cursor.queue = queue;
    if (cursor.entry !== undefined || cursor.isSkipped) return;
    if (pointAtNonce(cursor, this.#config)) this.#heap.push(cursor);
  }
}

function openCursor(queue: SenderQueue): Cursor {
  return { queue, nonce: queue.firstNonce, entry: undefined, feeWei: 0n, roughFee: 0, isSkipped: false };
}

/** Points the cursor at the entry of its nonce; false when none may go into this block. */
function pointAtNonce(cursor: Cursor, { baseFeePerGas, floors }: SelectionConfig): boolean {
  const entry = cursor.queue.pendingAt(cursor.nonce);
  cursor.entry = undefined;
  if (entry === undefined) return false;
  const feeWei = effectivePriorityFee(entry.transaction, baseFeePerGas);
  if (feeWei < 0n) return false;
  if (!entry.isPrioritized && missedFloor(feeWei, baseFeePerGas, floors) !== undefined) return false;
  cursor.entry = entry;
  cursor.feeWei = feeWei;
  cursor.roughFee = Number(feeWei);
  return true;
}

function isBefore(a: Cursor, b: Cursor): boolean {
  if (a.entry === undefined || b.entry === undefined) return b.entry === undefined;
  if (a.entry.isPrioritized !== b.entry.isPrioritized) return a.entry.isPrioritized;
  if (a.roughFee !== b.roughFee) return a.roughFee > b.roughFee;
  if (a.roughFee > Number.MAX_SAFE_INTEGER && a.feeWei !== b.feeWei) return a.feeWei > b.feeWei;
  return a.entry.sequence < b.entry.sequence;
}
