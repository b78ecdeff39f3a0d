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
 * Recovers signers on worker threads, in batches: items requested in one event-loop cycle, or while all workers are busy,
 * are sent together. Sending them one at a time would cost the main thread as much as recovering them.
 *
 *     recoverMany ──> queue ──(a worker has capacity)──> batch ──> worker ──> addresses, distributed to their requests
 *
 * Bounded: beyond `waitingLimit` items a request is recovered on the calling thread, which slows its caller down.
 * Requests of one urgency are answered in order, whichever worker finishes first: clients that send transactions one
 * after another rely on their admission in that order, nonce by nonce. Urgent requests have a queue of their own that is
 * served first, so that a block does not wait behind a flood of transactions.
 */
export interface RecoveryPool {
  /** Addresses in the order of the items; undefined where a signature is invalid. */
  recoverMany(items: readonly RecoveryItem[], urgency?: Urgency): Promise<(Address | undefined)[]>;
  /** Starts the workers, which otherwise start with the first item. */
  start(): void;
  /** Number of workers, of busy workers, and of items that wait. */
  readonly load: WorkLoad;
  /** Terminates the workers and rejects waiting requests. */
  close(): Promise<void>;
}

export type Urgency = "urgent" | "ordinary";

export interface RecoverySettings {
  readonly threads: number;
  /** Maximum number of items that wait for a worker. */
  readonly waitingLimit: number;
  /** Is told once why, when no worker can run: items are recovered on this thread from then on. */
  readonly onFailure?: (error: Error) => void;
  /** File of the workers; another one in tests. */
  readonly entry?: URL;
}

export function createRecoveryPool(settings: RecoverySettings = DEFAULT_RECOVERY_SETTINGS): RecoveryPool {
  assert(settings.threads > 0, "a recovery pool has at least one thread");
  return new WorkerRecoveryPool(settings);
}

/** Leaves one core to the main thread. */
export const DEFAULT_RECOVERY_SETTINGS: RecoverySettings = {
  threads: Math.max(1, Math.min(4, availableParallelism() - 1)),
  waitingLimit: 100_000,
};

/** Items per batch: some 10 ms with the native library. Urgent items wait for two batches at most. */
const BATCH_LIMIT = 128;
/** Batches per worker: one in progress and the next one queued. */
const BATCHES_PER_WORKER = 2;
/** Consecutive failures after which a worker is not started again. */
const FAILURE_LIMIT = 3;

interface RecoveryRequest {
  readonly items: readonly RecoveryItem[];
  readonly addresses: (Address | undefined)[];
  /** Items sent to a worker. */
  sent: number;
  /** Items answered; workers may answer in any order. */
  answered: number;
  /** Set once the request fails. */
  failure: Error | undefined;
  /** The request after this one. */
  next: RecoveryRequest | undefined;
  resolve(addresses: (Address | undefined)[]): void;
  reject(error: Error): void;
}

/** Part of a batch: `count` items of one request. */
interface Share {
  readonly request: RecoveryRequest;
  readonly from: number;
  readonly count: number;
}

interface WorkerSlot {
  worker: Worker;
  /** Consecutive times that the worker ended without an answer. */
  failures: number;
  /** Unanswered batches, oldest first. */
  batches: (readonly Share[])[];
}

/** Requests of one urgency, answered in their order. */
class Lane {
  /** Items not yet sent to a worker. */
  waitingItems = 0;
  /** Unanswered requests as a linked list, so that removing the oldest moves no other. */
  private oldest: RecoveryRequest | undefined;
  private newest: RecoveryRequest | undefined;
  /** The oldest request with items not yet sent. */
  private firstWaiting: RecoveryRequest | undefined;

  queue(
    items: readonly RecoveryItem[],
    resolve: RecoveryRequest["resolve"],
    reject: RecoveryRequest["reject"],
  ): RecoveryRequest {
    const request: RecoveryRequest = {
      items,
      addresses: new Array(items.length),
      sent: 0,
      answered: 0,
      failure: undefined,
      next: undefined,
      resolve,
      reject,
    };
    if (this.newest === undefined) this.oldest = request;
    else this.newest.next = request;
    this.newest = request;
    return request;
  }

  /** Recovers a request on this thread. */
  recoverHere(request: RecoveryRequest): void {
    const addresses = decodeAnswers(answerItems(encodeItems(request.items)));
    for (const [index, address] of addresses.entries()) request.addresses[index] = address;
    request.sent = request.items.length;
    request.answered = request.items.length;
    this.answerOldest();
  }

  wait(request: RecoveryRequest): void {
    this.firstWaiting ??= request;
    this.waitingItems += request.items.length;
  }

  /** Takes up to `limit` items for a worker, the oldest first. */
  take(limit: number): readonly Share[] {
    const shares: Share[] = [];
    let left = limit;
    let request = this.firstWaiting;
    while (request !== undefined && left > 0) {
      const from = request.sent;
      const count = Math.min(request.items.length - from, left);
      shares.push({ request, from, count });
      request.sent += count;
      left -= count;
      while (request !== undefined && request.sent === request.items.length) request = request.next;
    }
    this.firstWaiting = request;
    this.waitingItems -= limit - left;
    return shares;
  }

  /** Answers requests from the oldest on, until one is incomplete. */
  answerOldest(): void {
    for (let request = this.oldest; request !== undefined; request = request.next) {
      if (request.failure !== undefined) request.reject(request.failure);
      else if (request.answered === request.items.length) request.resolve(request.addresses);
      else break;
      this.oldest = request.next;
    }
    if (this.oldest === undefined) this.newest = undefined;
  }

  rejectAll(failure: Error): void {
    this.firstWaiting = undefined;
    this.waitingItems = 0;
    for (let request = this.oldest; request !== undefined; request = request.next)
      request.failure ??= failure;
    this.answerOldest();
  }
}

class WorkerRecoveryPool implements RecoveryPool {
  private readonly settings: RecoverySettings;
  private slots: readonly WorkerSlot[] = [];
  private readonly lanes: Readonly<Record<Urgency, Lane>> = { urgent: new Lane(), ordinary: new Lane() };
  private isScheduled = false;
  private isStarted = false;
  private isClosed = false;

  constructor(settings: RecoverySettings) {
    this.settings = settings;
  }

  start(): void {
    if (this.isStarted || this.isClosed) return;
    this.isStarted = true;
    this.slots = Array.from({ length: this.settings.threads }, () => this.createSlot());
  }

  recoverMany(
    items: readonly RecoveryItem[],
    urgency: Urgency = "ordinary",
  ): Promise<(Address | undefined)[]> {
    if (this.isClosed) return Promise.reject(new Error(CLOSED));
    if (items.length === 0) return Promise.resolve([]);
    this.start();
    const lane = this.lanes[urgency];
    return new Promise((resolve, reject) => {
      const request = lane.queue(items, resolve, reject);
      if (lane.waitingItems + items.length > this.settings.waitingLimit) lane.recoverHere(request);
      else this.wait(lane, request);
    });
  }

  get load(): WorkLoad {
    const { urgent, ordinary } = this.lanes;
    const active = this.slots.filter(({ batches }) => batches.length > 0).length;
    return { threads: this.slots.length, active, waiting: urgent.waitingItems + ordinary.waitingItems };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.rejectAll(new Error(CLOSED));
    await Promise.all(this.slots.map(({ worker }) => terminateWorker(worker)));
  }

  private wait(lane: Lane, request: RecoveryRequest): void {
    lane.wait(request);
    this.schedule();
  }

  private schedule(): void {
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

  private rejectAll(failure: Error): void {
    this.lanes.urgent.rejectAll(failure);
    this.lanes.ordinary.rejectAll(failure);
  }

  private createSlot(): WorkerSlot {
    const slot: WorkerSlot = { worker: this.startWorker(() => slot), failures: 0, batches: [] };
    return slot;
  }

  private startWorker(slotOf: () => WorkerSlot): Worker {
    const worker = new Worker(this.settings.entry ?? workerEntry("recoveryWorker"));
    worker.on("message", (answers: ArrayBuffer) => this.receive(slotOf(), answers));
    let failure = new Error(CLOSED);
    worker.on("error", (error) => {
      failure = error instanceof Error ? error : new Error(String(error));
    });
    worker.on("exit", () => this.workerEnded(slotOf(), failure));
    // Idle workers do not keep the process alive; busy ones do.
    worker.unref();
    return worker;
  }

  /** Sends the next batches to workers with capacity, the least busy ones first; without workers, does a batch here. */
  private sendAll(): void {
    if (this.slots.length === 0) this.recoverBatchHere();
    for (let load = 0; load < BATCHES_PER_WORKER; load++)
      for (const slot of this.slots) if (slot.batches.length === load) this.send(slot);
  }

  private send(slot: WorkerSlot): void {
    const shares = this.takeBatch();
    if (shares.length === 0) return;
    if (slot.batches.length === 0) slot.worker.ref();
    slot.batches.push(shares);
    const encoded = encodeItems(itemsOf(shares));
    slot.worker.postMessage(encoded, [encoded]);
  }

  private takeBatch(): readonly Share[] {
    const urgent = this.lanes.urgent.take(BATCH_LIMIT);
    return urgent.length > 0 ? urgent : this.lanes.ordinary.take(BATCH_LIMIT);
  }

  /** One batch on this thread; the next one after pending events. */
  private recoverBatchHere(): void {
    const shares = this.takeBatch();
    if (shares.length === 0) return;
    this.recoverHere(shares);
    this.answerAll();
    this.schedule();
  }

  private recoverHere(shares: readonly Share[]): void {
    accept(shares, decodeAnswers(answerItems(encodeItems(itemsOf(shares)))));
  }

  private receive(slot: WorkerSlot, answers: ArrayBuffer): void {
    const shares = expectDefined(slot.batches.shift(), "the batch that was answered");
    slot.failures = 0;
    if (slot.batches.length === 0) slot.worker.unref();
    this.sendAll();
    accept(shares, decodeAnswers(answers));
    this.answerAll();
  }

  /**
   * Recovers the batches of a worker that ended on this thread, and replaces the worker unless it failed too often, as when
   * no file may be opened any more. Blocks and transactions need their senders even then.
   */
  private workerEnded(slot: WorkerSlot, failure: Error): void {
    if (this.isClosed) return;
    for (const shares of slot.batches.splice(0)) this.recoverHere(shares);
    this.answerAll();
    slot.failures++;
    if (slot.failures <= FAILURE_LIMIT) {
      slot.worker = this.startWorker(() => slot);
    } else {
      this.slots = this.slots.filter((other) => other !== slot);
      if (this.slots.length === 0) this.settings.onFailure?.(failure);
    }
    this.sendAll();
  }
}

function itemsOf(shares: readonly Share[]): readonly RecoveryItem[] {
  return shares.flatMap(({ request, from, count }) => request.items.slice(from, from + count));
}

/** Stores the addresses of a batch in its requests. */
function accept(shares: readonly Share[], addresses: readonly (Address | undefined)[]): void {
  let at = 0;
  for (const { request, from, count } of shares) {
    for (let index = from; index < from + count; index++) request.addresses[index] = addresses[at++];
    request.answered += count;
  }
}

const CLOSED = "the recovery pool is closed";
