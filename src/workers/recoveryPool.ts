import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Address } from "../primitives/address.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import { answerItems, decodeAnswers, encodeItems, type RecoveryItem } from "../primitives/recoveryBatch.ts";
import { terminateWorker } from "../primitives/workerTermination.ts";
import { workerEntry } from "./workerEntry.ts";
import type { WorkLoad } from "./workLoad.ts";

export type { RecoveryItem } from "../primitives/recoveryBatch.ts";

/**
 * Recovers signers on threads of their own, in batches: what is asked for in one turn of the event loop, or while all
 * threads are busy, travels together. One at a time would cost the asking thread as much as recovering.
 *
 *     recoverMany ──> waiting ──(a thread has room)──> batch ──> thread ──> answers, to each asker its part
 *
 * Bounded: beyond `waitingLimit` items the asker recovers for itself, which slows down whoever asks too much.
 * Answers leave in the order in which they were asked for, whichever thread is done first: whoever sends transactions
 * one after another counts on their being judged that way, nonce by nonce. Urgent askers have a queue of their own, whose
 * items go first: a block does not wait behind the transactions that somebody floods the node with.
 */
export interface RecoveryPool {
  /** Addresses in the order of the items; undefined where a signature fits no key. */
  recoverMany(items: readonly RecoveryItem[], urgency?: Urgency): Promise<(Address | undefined)[]>;
  /** Starts the threads, which start with the first item otherwise. */
  start(): void;
  /** Threads, those of them at work, and items that wait for one. */
  readonly load: WorkLoad;
  /** Ends the threads. What is still waiting is refused. */
  close(): Promise<void>;
}

export type Urgency = "urgent" | "ordinary";

export interface RecoverySettings {
  readonly threads: number;
  /** Items that may wait for a thread. */
  readonly waitingLimit: number;
}

export function createRecoveryPool(settings: RecoverySettings = DEFAULT_RECOVERY_SETTINGS): RecoveryPool {
  assert(settings.threads > 0, "a recovery pool has at least one thread");
  return new ThreadedRecovery(settings);
}

/** One core is left to the main thread. */
const DEFAULT_RECOVERY_SETTINGS: RecoverySettings = {
  threads: Math.max(1, Math.min(4, availableParallelism() - 1)),
  waitingLimit: 100_000,
};

/** Some 10 ms of work for a thread with the native curve: what is urgent waits for two of them at most. */
const BATCH_LIMIT = 128;
/** A thread always has its next batch at hand. */
const BATCHES_PER_THREAD = 2;
const FAILURE_LIMIT = 3;

interface Asker {
  readonly items: readonly RecoveryItem[];
  readonly addresses: (Address | undefined)[];
  /** Items sent to a thread. */
  sent: number;
  /** Items answered; threads may answer in any order. */
  answered: number;
  /** Why it will get no answer; undefined while it may. */
  failure: Error | undefined;
  /** Who asked next. */
  next: Asker | undefined;
  resolve(addresses: (Address | undefined)[]): void;
  reject(error: Error): void;
}

/** Part of a batch: so many items of that asker. */
interface Share {
  readonly requester: Asker;
  readonly from: number;
  readonly count: number;
}

interface Thread {
  worker: Worker;
  /** Times in a row that it ended without having answered anything. */
  failures: number;
  /** Batches sent and not yet answered, oldest first. */
  batches: (readonly Share[])[];
}

/** Askers that are answered in the order in which they asked. */
class Lane {
  /** Items that no thread has yet. */
  waitingItems = 0;
  /** The askers that have not been answered, each linked to the next: none is moved when another leaves. */
  private oldest: Asker | undefined;
  private newest: Asker | undefined;
  /** The oldest one with items that no thread has yet. */
  private firstWaiting: Asker | undefined;

  queue(items: readonly RecoveryItem[], resolve: Asker["resolve"], reject: Asker["reject"]): Asker {
    const requester: Asker = {
      items,
      addresses: new Array(items.length),
      sent: 0,
      answered: 0,
      failure: undefined,
      next: undefined,
      resolve,
      reject,
    };
    if (this.newest === undefined) this.oldest = requester;
    else this.newest.next = requester;
    this.newest = requester;
    return requester;
  }

  recoverHere(requester: Asker): void {
    const addresses = decodeAnswers(answerItems(encodeItems(requester.items)));
    for (const [index, address] of addresses.entries()) requester.addresses[index] = address;
    requester.sent = requester.items.length;
    requester.answered = requester.items.length;
    this.answerOldest();
  }

  wait(requester: Asker): void {
    this.firstWaiting ??= requester;
    this.waitingItems += requester.items.length;
  }

  /** So many items for a thread, those that have waited longest. */
  take(limit: number): readonly Share[] {
    const shares: Share[] = [];
    let left = limit;
    let requester = this.firstWaiting;
    while (requester !== undefined && left > 0) {
      const from = requester.sent;
      const count = Math.min(requester.items.length - from, left);
      shares.push({ requester, from, count });
      requester.sent += count;
      left -= count;
      while (requester !== undefined && requester.sent === requester.items.length) requester = requester.next;
    }
    this.firstWaiting = requester;
    this.waitingItems -= limit - left;
    return shares;
  }

  /** Answers from the oldest on, as far as everything is known. */
  answerOldest(): void {
    for (let requester = this.oldest; requester !== undefined; requester = requester.next) {
      if (requester.failure !== undefined) requester.reject(requester.failure);
      else if (requester.answered === requester.items.length) requester.resolve(requester.addresses);
      else break;
      this.oldest = requester.next;
    }
    if (this.oldest === undefined) this.newest = undefined;
  }

  refuseAll(failure: Error): void {
    this.firstWaiting = undefined;
    this.waitingItems = 0;
    for (let requester = this.oldest; requester !== undefined; requester = requester.next)
      requester.failure ??= failure;
    this.answerOldest();
  }
}

class ThreadedRecovery implements RecoveryPool {
  private readonly threadCount: number;
  private readonly threads: Thread[] = [];
  private readonly waitingLimit: number;
  private readonly lanes: Readonly<Record<Urgency, Lane>> = { urgent: new Lane(), ordinary: new Lane() };
  private isScheduled = false;
  private isClosed = false;
  /** Why threads do not even start; undefined while they do. */
  private failure: Error | undefined;

  constructor({ threads, waitingLimit }: RecoverySettings) {
    this.waitingLimit = waitingLimit;
    this.threadCount = threads;
  }

  start(): void {
    if (this.threads.length > 0 || this.isClosed) return;
    for (let count = 0; count < this.threadCount; count++) this.threads.push(this.startThread());
  }

  recoverMany(
    items: readonly RecoveryItem[],
    urgency: Urgency = "ordinary",
  ): Promise<(Address | undefined)[]> {
    if (this.isClosed) return Promise.reject(new Error(CLOSED));
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (items.length === 0) return Promise.resolve([]);
    this.start();
    const lane = this.lanes[urgency];
    return new Promise((resolve, reject) => {
      const requester = lane.queue(items, resolve, reject);
      if (lane.waitingItems + items.length > this.waitingLimit) lane.recoverHere(requester);
      else this.wait(lane, requester);
    });
  }

  get load(): WorkLoad {
    const { urgent, ordinary } = this.lanes;
    const active = this.threads.filter(({ batches }) => batches.length > 0).length;
    return { threads: this.threads.length, active, waiting: urgent.waitingItems + ordinary.waitingItems };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.refuseAll(new Error(CLOSED));
    await Promise.all(this.threads.map(({ worker }) => terminateWorker(worker)));
  }

  private wait(lane: Lane, requester: Asker): void {
    lane.wait(requester);
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.sendAll();
    });
  }

  private answerAll(): void {
    this.lanes.urgent.answerOldest();
    this.lanes.ordinary.answerOldest();
  }

  private refuseAll(failure: Error): void {
    this.lanes.urgent.refuseAll(failure);
    this.lanes.ordinary.refuseAll(failure);
  }

  private startThread(): Thread {
    const thread: Thread = { worker: this.startWorker(() => thread), failures: 0, batches: [] };
    return thread;
  }

  private startWorker(threadOf: () => Thread): Worker {
    const worker = new Worker(workerEntry(import.meta.url, "recoveryWorker"));
    worker.on("message", (answers: ArrayBuffer) => this.receive(threadOf(), answers));
    let failure = new Error(CLOSED);
    worker.on("error", (error) => {
      failure = error instanceof Error ? error : new Error(String(error));
    });
    worker.on("exit", () => this.threadEnded(threadOf(), failure));
    // Idle threads do not keep the process alive; those at work do.
    worker.unref();
    return worker;
  }

  /** Gives each thread that has room the next batch, the least busy ones first. */
  private sendAll(): void {
    for (let load = 0; load < BATCHES_PER_THREAD; load++)
      for (const thread of this.threads) if (thread.batches.length === load) this.send(thread);
  }

  private send(thread: Thread): void {
    const urgent = this.lanes.urgent.take(BATCH_LIMIT);
    const shares = urgent.length > 0 ? urgent : this.lanes.ordinary.take(BATCH_LIMIT);
    if (shares.length === 0) return;
    const items = shares.flatMap(({ requester, from, count }) => requester.items.slice(from, from + count));
    if (thread.batches.length === 0) thread.worker.ref();
    thread.batches.push(shares);
    const encoded = encodeItems(items);
    thread.worker.postMessage(encoded, [encoded]);
  }

  private receive(thread: Thread, answers: ArrayBuffer): void {
    const shares = expectDefined(thread.batches.shift(), "the batch that was answered");
    thread.failures = 0;
    if (thread.batches.length === 0) thread.worker.unref();
    this.sendAll();
    const addresses = decodeAnswers(answers);
    let at = 0;
    for (const { requester, from, count } of shares) {
      for (let index = from; index < from + count; index++) requester.addresses[index] = addresses[at++];
      requester.answered += count;
    }
    this.answerAll();
  }

  /** A thread that fell over takes its batches with it; another takes its place, unless that never helps. */
  private threadEnded(thread: Thread, failure: Error): void {
    for (const shares of thread.batches.splice(0))
      for (const { requester } of shares) requester.failure ??= failure;
    this.answerAll();
    if (this.isClosed) return;
    thread.failures++;
    if (thread.failures > FAILURE_LIMIT) {
      this.giveUp(failure);
      return;
    }
    thread.worker = this.startWorker(() => thread);
    this.sendAll();
  }

  private giveUp(failure: Error): void {
    this.failure = failure;
    this.refuseAll(failure);
  }
}

const CLOSED = "the recovery pool is closed";
