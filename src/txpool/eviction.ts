import { expectDefined } from "../primitives/assert.ts";
import { effectivePriorityFee } from "../types/transaction.ts";
import type { StoredEntry } from "./entry.ts";
import { Heap } from "./heap.ts";
import type { TxPoolLimits } from "./limits.ts";
import type { SenderQueue } from "./senderQueue.ts";

type PoolSize = Readonly<Record<"size" | "bytes", number>>;
type PoolSizeLimits = Pick<TxPoolLimits, "maxTransactions" | "maxBytes">;

/** Whether the pool is within its limits. */
export function hasRoom({ size, bytes }: PoolSize, { maxTransactions, maxBytes }: PoolSizeLimits): boolean {
  return size <= maxTransactions && bytes <= maxBytes;
}

/** Takes entries out of the pool, and puts them back when that made no room for the incoming one. */
interface RoomParts<T> {
  readonly pool: PoolSize;
  readonly limits: PoolSizeLimits;
  readonly order: Pick<EvictionOrder, "worst">;
  take(entry: StoredEntry): T;
  removeIncoming(): void;
  putBack(taken: T): void;
}

/**
 * Takes out entries, the worst first, until the pool is within its limits again, and returns what `take` returned for each.
 * Undefined when the incoming entry, which is in the pool already, would itself be among them: it is then removed, and the
 * others are put back, so that no entry is lost for one that cannot stay.
 */
export function makeRoom<T>(incoming: StoredEntry, parts: RoomParts<T>): readonly T[] | undefined {
  const { pool, limits, order } = parts;
  const isOversized = incoming.occupiedBytes > limits.maxBytes;
  const taken: T[] = [];
  while (!hasRoom(pool, limits)) {
    const entry = isOversized ? incoming : expectDefined(order.worst(), "an entry of a full pool");
    if (entry === incoming) {
      parts.removeIncoming();
      for (const one of taken.reverse()) parts.putBack(one);
      return undefined;
    }
    taken.push(parts.take(entry));
  }
  return taken;
}

/** A queue's last entry at the time it was added; stale candidates are skipped. */
interface Candidate {
  readonly queue: SenderQueue;
  readonly entry: StoredEntry;
  readonly isQueued: boolean;
  readonly evictionScore: number;
}

/** Bound on stale candidates: a factor per sender and a constant. */
const STALE_FACTOR = 4;
const STALE_ALLOWANCE = 1024;

/**
 * Finds the entry that a full pool evicts. Costs nothing until its first use. A transaction's score is what it pays the
 * beneficiary under the next base fee, capped by the score of its sender's transaction before it: it cannot be included
 * earlier. Doubles are exact enough here.
 */
export class EvictionOrder {
  readonly #senders: ReadonlyMap<string, SenderQueue>;
  readonly #nextBaseFeePerGas: () => bigint | undefined;
  #heap: Heap<Candidate> | undefined;

  constructor(senders: ReadonlyMap<string, SenderQueue>, nextBaseFeePerGas: () => bigint | undefined) {
    this.#senders = senders;
    this.#nextBaseFeePerGas = nextBaseFeePerGas;
  }

  /**
   * The entry with the lowest rank, always the last one of its sender, so that no gap opens: queued before pending,
   * plain before prioritized, then the lowest score, then the latest. Undefined in an empty pool.
   */
  worst(): StoredEntry | undefined {
    const candidates = this.#currentHeap();
    for (let top = candidates.peek(); top !== undefined; top = candidates.peek()) {
      if (isCurrent(top)) return top.entry;
      candidates.pop();
    }
    return undefined;
  }

  /** An entry was inserted into the queue, new or as a replacement. */
  inserted(queue: SenderQueue, entry: StoredEntry): void {
    if (this.#heap === undefined) return;
    if (queue.last === entry) computeScore(entry, queue.lastButOne, this.#nextBaseFeePerGas());
    else computeScores(queue, this.#nextBaseFeePerGas());
    for (const candidate of candidateOf(queue)) this.#heap.push(candidate);
  }

  /** The queue's last entry was removed. */
  lastRemoved(queue: SenderQueue): void {
    if (this.#heap === undefined) return;
    for (const candidate of candidateOf(queue)) this.#heap.push(candidate);
  }

  /**
   * Discards all scores after a larger change (a new head, an entry removed from the middle); they are recomputed on
   * demand.
   */
  invalidate(): void {
    this.#heap = undefined;
  }

  #currentHeap(): Heap<Candidate> {
    if (this.#heap !== undefined && this.#heap.size <= STALE_FACTOR * this.#senders.size + STALE_ALLOWANCE)
      return this.#heap;
    const candidates: Candidate[] = [];
    const baseFeePerGas = this.#nextBaseFeePerGas();
    for (const queue of this.#senders.values()) {
      computeScores(queue, baseFeePerGas);
      candidates.push(...candidateOf(queue));
    }
    this.#heap = new Heap(isWorse, candidates);
    return this.#heap;
  }
}

function computeScores(queue: SenderQueue, baseFeePerGas: bigint | undefined): void {
  let before: StoredEntry | undefined;
  for (const entry of queue.entries()) {
    computeScore(entry, before, baseFeePerGas);
    before = entry;
  }
}

function computeScore(
  entry: StoredEntry,
  before: StoredEntry | undefined,
  baseFeePerGas: bigint | undefined,
): void {
  const fee = Number(effectivePriorityFee(entry.transaction, baseFeePerGas));
  entry.evictionScore = before === undefined ? fee : Math.min(fee, before.evictionScore);
}

function candidateOf(queue: SenderQueue): Candidate[] {
  const entry = queue.last;
  return entry === undefined
    ? []
    : [{ queue, entry, isQueued: queue.queuedCount > 0, evictionScore: entry.evictionScore }];
}

function isCurrent({ queue, entry, isQueued, evictionScore }: Candidate): boolean {
  return queue.last === entry && queue.queuedCount > 0 === isQueued && entry.evictionScore === evictionScore;
}

function isWorse(a: Candidate, b: Candidate): boolean {
  if (a.isQueued !== b.isQueued) return a.isQueued;
  if (a.entry.isPrioritized !== b.entry.isPrioritized) return b.entry.isPrioritized;
  if (a.evictionScore !== b.evictionScore) return a.evictionScore < b.evictionScore;
  return a.entry.sequence > b.entry.sequence;
}
