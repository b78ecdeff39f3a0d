import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Address } from "./address.ts";
import { assert, present } from "./assert.ts";
import { answerItems, decodeAnswers, encodeItems, type RecoveryItem } from "./recoveryBatch.ts";
import { workerEntry } from "./workerEntry.ts";

export type { RecoveryItem } from "./recoveryBatch.ts";

/**
 * Recovers signers on threads of their own, in batches: what is asked for in one turn of the event loop, or while all
 * threads are busy, travels together. One at a time would cost the asking thread as much as recovering.
 *
 *     recoverMany ──> waiting ──(a thread has room)──> batch ──> thread ──> answers, to each asker its part
 *
 * Bounded: beyond WAITING_LIMIT items the asker recovers for itself, which slows down whoever asks too much.
 */
export interface RecoveryPool {
  /** Addresses in the order of the items; undefined where a signature fits no key. */
  recoverMany(items: readonly RecoveryItem[]): Promise<(Address | undefined)[]>;
  /** Ends the threads. What is still waiting is refused. */
  close(): Promise<void>;
}

export interface RecoverySettings {
  readonly threads: number;
}

export function createRecoveryPool(settings: RecoverySettings = DEFAULT_RECOVERY_SETTINGS): RecoveryPool {
  assert(settings.threads > 0, "a recovery pool has at least one thread");
  return new ThreadedRecovery(settings);
}

/** One core is left to the main thread. */
export const DEFAULT_RECOVERY_SETTINGS: RecoverySettings = {
  threads: Math.max(1, Math.min(4, availableParallelism() - 1)),
};

/** Some 10 ms of work for a thread with the native curve. */
const BATCH_LIMIT = 256;
/** A thread always has its next batch at hand. */
const BATCHES_PER_THREAD = 2;
const WAITING_LIMIT = 100_000;
const FAILURE_LIMIT = 3;
/** Taking askers off the front one by one would move all the others each time. */
const DONE_LIMIT = 4096;

interface Asker {
  readonly items: readonly RecoveryItem[];
  readonly addresses: (Address | undefined)[];
  /** Items sent to a thread. */
  sent: number;
  /** Items answered; threads may answer in any order. */
  answered: number;
  resolve(addresses: (Address | undefined)[]): void;
  reject(error: Error): void;
}

/** Part of a batch: so many items of that asker. */
interface Share {
  readonly asker: Asker;
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

class ThreadedRecovery implements RecoveryPool {
  private readonly threads: Thread[];
  /** Askers with items not yet sent, from `first` on; those before are done with. */
  private waiting: Asker[] = [];
  private first = 0;
  private waitingItems = 0;
  private isScheduled = false;
  private isClosed = false;
  /** Why threads do not even start; undefined while they do. */
  private failure: Error | undefined;

  constructor({ threads }: RecoverySettings) {
    this.threads = Array.from({ length: threads }, () => this.startThread());
  }

  recoverMany(items: readonly RecoveryItem[]): Promise<(Address | undefined)[]> {
    if (this.isClosed) return Promise.reject(new Error(CLOSED));
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (items.length === 0) return Promise.resolve([]);
    if (this.waitingItems + items.length > WAITING_LIMIT)
      return Promise.resolve(decodeAnswers(answerItems(encodeItems(items))));
    return new Promise((resolve, reject) => {
      this.waiting.push({ items, addresses: new Array(items.length), sent: 0, answered: 0, resolve, reject });
      this.waitingItems += items.length;
      if (this.isScheduled) return;
      this.isScheduled = true;
      setImmediate(() => {
        this.isScheduled = false;
        this.sendAll();
      });
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.refuseWaiting(new Error(CLOSED));
    await Promise.all(this.threads.map(({ worker }) => worker.terminate()));
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
      for (const thread of this.threads)
        if (thread.batches.length === load && this.first < this.waiting.length) this.send(thread);
  }

  private send(thread: Thread): void {
    const shares: Share[] = [];
    const items: RecoveryItem[] = [];
    while (items.length < BATCH_LIMIT) {
      const asker = this.waiting[this.first];
      if (asker === undefined) break;
      const from = asker.sent;
      const count = Math.min(asker.items.length - from, BATCH_LIMIT - items.length);
      for (let index = from; index < from + count; index++)
        items.push(present(asker.items[index], "an item to recover"));
      shares.push({ asker, from, count });
      asker.sent += count;
      if (asker.sent === asker.items.length) this.first++;
    }
    if (this.first === this.waiting.length || this.first > DONE_LIMIT) {
      this.waiting = this.waiting.slice(this.first);
      this.first = 0;
    }
    this.waitingItems -= items.length;
    if (thread.batches.length === 0) thread.worker.ref();
    thread.batches.push(shares);
    const encoded = encodeItems(items);
    thread.worker.postMessage(encoded, [encoded]);
  }

  private receive(thread: Thread, answers: ArrayBuffer): void {
    const shares = present(thread.batches.shift(), "the batch that was answered");
    thread.failures = 0;
    if (thread.batches.length === 0) thread.worker.unref();
    this.sendAll();
    const addresses = decodeAnswers(answers);
    let at = 0;
    for (const { asker, from, count } of shares) {
      for (let index = from; index < from + count; index++) asker.addresses[index] = addresses[at++];
      asker.answered += count;
      if (asker.answered === asker.items.length) asker.resolve(asker.addresses);
    }
  }

  /** A thread that fell over takes its batches with it; another takes its place, unless that never helps. */
  private threadEnded(thread: Thread, failure: Error): void {
    for (const shares of thread.batches.splice(0)) for (const { asker } of shares) asker.reject(failure);
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
    this.refuseWaiting(failure);
  }

  private refuseWaiting(reason: Error): void {
    for (const asker of this.waiting.slice(this.first)) asker.reject(reason);
    this.waiting = [];
    this.first = 0;
    this.waitingItems = 0;
  }
}

const CLOSED = "the recovery pool is closed";
