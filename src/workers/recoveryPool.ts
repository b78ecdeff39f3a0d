import { availableParallelism } from "node:os";
import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import { answerItems, decodeAnswers, encodeItems, type RecoveryItem } from "../primitives/recoveryBatch.ts";
import { curve } from "../primitives/secp256k1.ts";
import { accept, itemsOf, RecoveryLane, type Share } from "./recoveryLane.ts";
import { failureOfAll, SupervisedThread } from "./supervisedThread.ts";
import { workerEntry } from "./workerEntry.ts";
import type { WorkLoad } from "./workLoad.ts";

export type { RecoveryItem } from "../primitives/recoveryBatch.ts";

type Urgency = "urgent" | "ordinary";

interface RecoverySettings {
  readonly threads: number;
  /** Maximum number of items that wait for a worker. */
  readonly waitingLimit: number;
  /** Hears of what makes recovery slow; absent where commands recover. */
  readonly logger?: Logger;
  /** File of the workers; another one in tests. */
  readonly entry?: URL;
}

/**
 * Leaves one core to the main thread, but two threads at least: the main thread waits for the seals of a sync, and has
 * precedence over threads when it works (threadPriority).
 */
const DEFAULT_SETTINGS: RecoverySettings = {
  threads: Math.max(2, Math.min(4, availableParallelism() - 1)),
  waitingLimit: 100_000,
};

/** Items per batch: some 10 ms with the native library. Urgent items wait for two batches at most. */
const BATCH_LIMIT = 128;
/** Batches per worker: one in progress and the next one queued. */
const BATCHES_PER_WORKER = 2;
/** Items that are recovered here in one event-loop cycle while threads start: 0.7 ms, or 17 without the native library. */
const STARTING_LIMIT = 16;

interface WorkerSlot {
  readonly thread: SupervisedThread<ArrayBuffer>;
  /** Unanswered batches, oldest first. */
  readonly batches: (readonly Share[])[];
}

/**
 * Recovers signers on worker threads, in batches: items requested in one event-loop cycle, or while all workers are busy,
 * are sent together. Sending them one at a time would cost the main thread as much as recovering them.
 *
 *     recoverMany ──> queue ──(a worker has capacity)──> batch ──> worker ──> addresses, distributed to their requests
 *
 * Bounded: beyond `waitingLimit` items a request is recovered on the calling thread, which slows its caller down.
 * Requests of one urgency are answered in order, whichever worker finishes first: clients that send transactions one
 * after another rely on their admission in that order, nonce by nonce. Urgent requests have a queue of their own that is
 * served first, so that a block does not wait behind a flood of transactions.
 *
 * Threads start after the first item, since many nodes are stopped, or idle for long, before one comes. Until the first of them
 * runs, a few items are recovered on the calling thread in each event-loop cycle, so that none waits for a thread to start.
 */
export class RecoveryPool {
  private readonly settings: RecoverySettings;
  private readonly slots: readonly WorkerSlot[];
  private readonly threads: readonly SupervisedThread<ArrayBuffer>[];
  private readonly lanes: Readonly<Record<Urgency, RecoveryLane>> = {
    urgent: new RecoveryLane(),
    ordinary: new RecoveryLane(),
  };
  private isScheduled = false;
  private isClosed = false;
  /** Times that a worker ended in the middle of its batches. */
  private deaths = 0;

  constructor(given: Partial<RecoverySettings> = {}) {
    const settings = { ...DEFAULT_SETTINGS, ...given };
    assert(settings.threads > 0, "a recovery pool has at least one thread");
    this.settings = settings;
    this.slots = Array.from({ length: settings.threads }, () => this.createSlot());
    this.threads = this.slots.map(({ thread }) => thread);
    if (curve.name === "noble")
      settings.logger?.warn(
        {},
        "no native secp256k1 binding for this platform: signature recovery takes twenty times as long",
      );
  }

  /** Addresses in the order of the items; undefined where a signature is invalid. */
  recoverMany(
    items: readonly RecoveryItem[],
    urgency: Urgency = "ordinary",
  ): Promise<(Address | undefined)[]> {
    if (this.isClosed) return Promise.reject(new Error(CLOSED));
    if (items.length === 0) return Promise.resolve([]);
    const lane = this.lanes[urgency];
    this.schedule();
    if (lane.waitingItems + items.length > this.settings.waitingLimit)
      return lane.addRecovered(items, recoverHere(items));
    return lane.wait(items);
  }

  /** Number of workers, of busy workers, and of items that wait. */
  get load(): WorkLoad {
    const { urgent, ordinary } = this.lanes;
    return {
      threads: this.threads.filter(({ isStarted }) => isStarted).length,
      active: this.slots.filter(({ batches }) => batches.length > 0).length,
      waiting: urgent.waitingItems + ordinary.waitingItems,
    };
  }

  /** Terminates the workers and rejects waiting requests. */
  async close(): Promise<void> {
    this.isClosed = true;
    const closed = new Error(CLOSED);
    this.lanes.urgent.rejectAll(closed);
    this.lanes.ordinary.rejectAll(closed);
    await Promise.all(this.threads.map((thread) => thread.close()));
  }

  private createSlot(): WorkerSlot {
    const entry = this.settings.entry ?? workerEntry("recoveryWorker");
    const thread = new SupervisedThread<ArrayBuffer>(
      { entry },
      {
        ready: () => this.sendAll(),
        receive: (answers) => this.receive(slot, answers),
        died: (error) => this.recoverBatchesOf(slot, error),
      },
    );
    const slot: WorkerSlot = { thread, batches: [] };
    return slot;
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.sendAll();
    });
  }

  /** Sends the next batches to workers with capacity, the least busy ones first; while none runs, does a batch here. */
  private sendAll(): void {
    if (failureOfAll(this.threads) !== undefined) this.recoverBatchHere(BATCH_LIMIT);
    else if (!this.threads.some(({ isReady }) => isReady)) {
      this.recoverBatchHere(STARTING_LIMIT);
      // Later than the answers to these, since to create threads takes milliseconds.
      setImmediate(() => this.startThreads());
    }
    for (let load = 0; load < BATCHES_PER_WORKER; load++)
      for (const { thread, batches } of this.slots)
        if (batches.length === load && thread.isReady) this.send({ thread, batches });
  }

  /** Starts the threads that were not started yet. */
  private startThreads(): void {
    for (const thread of this.threads) thread.start();
  }

  private send({ thread, batches }: WorkerSlot): void {
    const shares = this.takeBatch(BATCH_LIMIT);
    if (shares.length === 0) return;
    if (batches.length === 0) thread.setBusy(true);
    batches.push(shares);
    const encoded = encodeItems(itemsOf(shares));
    thread.post(encoded, [encoded]);
  }

  private takeBatch(limit: number): readonly Share[] {
    const urgent = this.lanes.urgent.take(limit);
    return urgent.length > 0 ? urgent : this.lanes.ordinary.take(limit);
  }

  private receive({ thread, batches }: WorkerSlot, answers: ArrayBuffer): void {
    const shares = expectDefined(batches.shift(), "the batch that was answered");
    if (batches.length === 0) thread.setBusy(false);
    this.sendAll();
    accept(shares, decodeAnswers(answers));
    this.answerOldest();
  }

  /** Recovers one batch on this thread; the next one follows after pending events. */
  private recoverBatchHere(limit: number): void {
    const shares = this.takeBatch(limit);
    if (shares.length === 0) return;
    accept(shares, recoverHere(itemsOf(shares)));
    this.answerOldest();
    this.schedule();
  }

  /** Recovers the batches of a worker that died on this thread: blocks and transactions need their senders even then. */
  private recoverBatchesOf({ batches }: WorkerSlot, error: Error): void {
    if (batches.length > 0) this.tellDeath(error);
    for (const shares of batches.splice(0)) accept(shares, recoverHere(itemsOf(shares)));
    this.answerOldest();
    if (failureOfAll(this.threads) !== undefined)
      this.settings.logger?.error(
        { error },
        "no signature worker thread can start; the main thread recovers senders, which is slower",
      );
    this.sendAll();
  }

  /** Warns of the first death, the second, the fourth, the eighth and so on, so that workers that end again and again do not fill the log. */
  private tellDeath(error: Error): void {
    this.deaths++;
    if (Number.isInteger(Math.log2(this.deaths)))
      this.settings.logger?.warn(
        { error, deaths: this.deaths },
        "a signature worker thread exited in the middle of its work, which the main thread has finished; restarting it",
      );
  }

  private answerOldest(): void {
    this.lanes.urgent.answerOldest();
    this.lanes.ordinary.answerOldest();
  }
}

function recoverHere(items: readonly RecoveryItem[]): (Address | undefined)[] {
  return decodeAnswers(answerItems(encodeItems(items)));
}

const CLOSED = "the recovery pool is closed";
