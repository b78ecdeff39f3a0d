import { Worker } from "node:worker_threads";
import type { Logger } from "../observability/logger.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import type { Requester } from "../primitives/requester.ts";
import { terminateWorker } from "../primitives/workerTermination.ts";
import { FairQueue } from "./fairQueue.ts";
import type { JobMessage, WorkerMessage } from "./workerProtocol.ts";
import type { WorkLoad } from "./workLoad.ts";

/**
 * Runs jobs on worker threads that can be terminated (architecture.md#threads): an endless loop in one call costs one
 * thread for some seconds, never a block, and delays each other caller by no more than that.
 *
 *     run ──> queue, by remote host and client ──(a worker has capacity)──> worker ──> result
 *                       ^                                                     ├── long job ──> its queued jobs go back
 *                       └─────────────────────────────────────────────────────┴── over the limit ──> terminated, restarted
 *
 * Invariants: a worker runs one job at a time and has a few more queued while jobs are short; each accepted job gets
 * exactly one result, whatever happens to its worker; a job that fills the heap of its worker affects no other job; at
 * most `waitingLimit` jobs wait, and beyond that the requester with the most loses its newest one as busy; a job waits
 * for at most one long job of each other remote host and of each other client of its own host; a job whose requester is
 * gone is never started.
 */
export interface WorkerPool<Job, Result> {
  /** Rejects with WorkerJobError when the pool is closed or its worker failed. A job whose requester is gone gets `timedOut`. */
  run(job: Job, requester: Requester): Promise<Result>;
  /** Starts the workers, which otherwise start with the first job: many nodes never get some kinds of jobs. */
  start(): void;
  /** Number of workers, of busy workers, and of jobs that wait. */
  readonly load: WorkLoad;
  close(): Promise<void>;
}

export interface WorkerPoolSettings {
  readonly threads: number;
  readonly timeoutMs: number;
  readonly waitingLimit: number;
  /** Heap of one worker, for tests. */
  readonly heapMb?: number;
}

export interface WorkerPoolParts<Result> {
  /** Name of the pool in the log. */
  readonly name: string;
  /** File of the worker, which runs its jobs with workerHost.ts. */
  readonly entry: URL;
  readonly workerData: unknown;
  readonly clock: Clock;
  readonly logger: Logger;
  timedOut(limitMs: number): Result;
  /** Result of a job that filled the heap of its worker. */
  readonly exhausted: Result;
  /** Result of a job that is dropped from a full queue. */
  readonly busy: Result;
}

export function createWorkerPool<Job, Result>(
  settings: WorkerPoolSettings,
  parts: WorkerPoolParts<Result>,
): WorkerPool<Job, Result> {
  assert(settings.threads > 0, "a worker pool has at least one thread");
  return new ThreadedWorkerPool<Job, Result>(settings, parts);
}

const CLOSED = "the worker pool is closed";

/** The pool is closed, or a worker failed or ended: not a result of the job itself. */
class WorkerJobError extends Error {
  override name = "WorkerJobError";
}

/** Jobs sent to a worker in advance while its jobs are short, so that it does not wait for this thread between them. */
const JOBS_PER_WORKER = 8;
/** Interval of the checks of a long job. Restarting a worker takes most of it, so no abandoned job is terminated earlier. */
const CHECK_MS = 1000;
/** Time limit for preparing a worker: it takes 0.4 s of CPU, on a thread of low priority. */
const PREPARE_LIMIT_MS = 60_000;
/** Consecutive failures of one worker after which the pool closes. */
const FAILURE_LIMIT = 3;
/**
 * Heap of one worker: twice the memory budget of a call, since tracers keep data as well. A last resort. The text of
 * traces and the memory of call frames lie outside the heap.
 */
const WORKER_HEAP_MB = 512;

interface PendingJob<Job, Result> {
  readonly job: Job;
  readonly requester: Requester;
  resolve(result: Result): void;
  reject(error: Error): void;
}

interface WorkerSlot<Job, Result> {
  worker: Worker;
  isReady: boolean;
  /** Whether it has loaded what its jobs need; the time limit of a job starts only then. */
  isPrepared: boolean;
  failures: number;
  /** Number of jobs that the worker has answered. */
  answers: number;
  /** Whether its last job was short. */
  wasLastShort: boolean;
  /** Jobs sent to the worker, the running one first. */
  jobs: PendingJob<Job, Result>[];
  /** Start of the first job. */
  startedAtMs: number;
  timer: Timer | undefined;
}

class ThreadedWorkerPool<Job, Result> implements WorkerPool<Job, Result> {
  private readonly settings: WorkerPoolSettings;
  private readonly parts: WorkerPoolParts<Result>;
  private readonly slots: WorkerSlot<Job, Result>[] = [];
  private readonly waiting: FairQueue<PendingJob<Job, Result>>;
  /** Set once the pool accepts no more jobs. */
  private failure: WorkerJobError | undefined;

  constructor(settings: WorkerPoolSettings, parts: WorkerPoolParts<Result>) {
    this.settings = settings;
    this.parts = parts;
    this.waiting = new FairQueue(settings.waitingLimit);
  }

  start(): void {
    if (this.slots.length > 0 || this.failure !== undefined) return;
    for (let count = 0; count < this.settings.threads; count++) this.slots.push(this.createSlot());
  }

  run(job: Job, requester: Requester): Promise<Result> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    this.start();
    return new Promise((resolve, reject) => {
      this.waiting.add({ job, requester, resolve, reject })?.resolve(this.parts.busy);
      this.sendAll();
    });
  }

  get load(): WorkLoad {
    const busy = this.slots.filter(({ jobs }) => jobs.length > 0);
    const queued = busy.reduce((sum, { jobs }) => sum + jobs.length - 1, 0);
    return { threads: this.slots.length, active: busy.length, waiting: this.waiting.size + queued };
  }

  async close(): Promise<void> {
    this.fail(new WorkerJobError(CLOSED));
    await Promise.all(this.slots.map(({ worker }) => terminateWorker(worker)));
  }

  private createSlot(): WorkerSlot<Job, Result> {
    const slot: WorkerSlot<Job, Result> = {
      worker: this.startWorker(() => slot),
      isReady: false,
      isPrepared: false,
      failures: 0,
      answers: 0,
      wasLastShort: false,
      jobs: [],
      startedAtMs: 0,
      timer: undefined,
    };
    return slot;
  }

  /** Idle workers do not keep the process alive; starting and busy ones do. */
  private startWorker(slotOf: () => WorkerSlot<Job, Result>): Worker {
    const { entry, workerData } = this.parts;
    const { heapMb = WORKER_HEAP_MB } = this.settings;
    const worker = new Worker(entry, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    // Events of a terminated worker may still arrive after its slot has a new one.
    const ifCurrent = (act: (slot: WorkerSlot<Job, Result>) => void): void => {
      const slot = slotOf();
      if (slot.worker === worker) act(slot);
    };
    let reason = "the thread ended";
    let isExhausted = false;
    worker.on("message", (message: WorkerMessage<Result>) =>
      ifCurrent((slot) => this.receive(slot, message)),
    );
    worker.on("error", (error) => {
      reason = messageOf(error);
      isExhausted = isOutOfMemory(error);
    });
    worker.on("exit", () =>
      ifCurrent((slot) => {
        if (isExhausted && slot.jobs.length > 0) this.finishExhausted(slot);
        else this.workerFailed(slot, reason);
      }),
    );
    return worker;
  }

  private sendAll(): void {
    for (;;) {
      const slot = this.leastBusy();
      const next = slot === undefined ? undefined : this.waiting.take();
      if (slot === undefined || next === undefined) return;
      if (next.requester.isAbandoned()) this.giveUp(next);
      else this.send(slot, next);
    }
  }

  /** The worker with the fewest jobs among those that can be sent another one. */
  private leastBusy(): WorkerSlot<Job, Result> | undefined {
    let leastBusy: WorkerSlot<Job, Result> | undefined;
    for (const slot of this.slots) {
      const capacity = slot.wasLastShort ? JOBS_PER_WORKER : 1;
      if (!slot.isReady || slot.jobs.length >= capacity) continue;
      if (leastBusy === undefined || slot.jobs.length < leastBusy.jobs.length) leastBusy = slot;
    }
    return leastBusy;
  }

  private send(slot: WorkerSlot<Job, Result>, pending: PendingJob<Job, Result>): void {
    slot.jobs.push(pending);
    const message: JobMessage<Job> = { job: pending.job, answersSeen: slot.answers };
    slot.worker.postMessage(message);
    if (slot.jobs.length > 1) return;
    slot.worker.ref();
    this.startFirst(slot);
  }

  /** Starts the time limit of the first job. */
  private startFirst(slot: WorkerSlot<Job, Result>): void {
    if (slot.jobs.length === 0) return;
    slot.startedAtMs = this.parts.clock.nowMs();
    if (slot.timer === undefined) this.setTimer(slot);
  }

  /**
   * Sets one timer for many short jobs: it checks whether the first job is overdue, and is set again if not. A late timer
   * means that this thread, or the whole machine, was blocked, so that delay is not counted for the job. Results that
   * arrived meanwhile are received after the timer in the same event-loop cycle, hence the setImmediate.
   */
  private setTimer(slot: WorkerSlot<Job, Result>): void {
    const { clock } = this.parts;
    const abandonableAtMs = slot.startedAtMs + CHECK_MS;
    const nextCheckAtMs = abandonableAtMs > clock.nowMs() ? abandonableAtMs : clock.nowMs() + CHECK_MS;
    const checkAtMs = Math.min(slot.startedAtMs + this.limitMsOf(slot), nextCheckAtMs);
    slot.timer = clock.at(checkAtMs, () => {
      const nowMs = clock.nowMs();
      slot.startedAtMs = Math.min(nowMs, slot.startedAtMs + nowMs - checkAtMs);
      const check = setImmediate(() => this.check(slot));
      slot.timer = { cancel: () => clearImmediate(check) };
    });
  }

  private check(slot: WorkerSlot<Job, Result>): void {
    slot.timer = undefined;
    for (const abandoned of this.waiting.takeAbandoned()) this.giveUp(abandoned);
    const [first] = slot.jobs;
    if (first === undefined) return;
    const tookMs = this.parts.clock.nowMs() - slot.startedAtMs;
    const isAbandoned = slot.isPrepared && tookMs >= CHECK_MS && first.requester.isAbandoned();
    if (isAbandoned || tookMs >= this.limitMsOf(slot)) this.terminateFirst(slot);
    else this.setTimer(slot);
  }

  private limitMsOf({ isPrepared }: WorkerSlot<Job, Result>): number {
    return isPrepared ? this.settings.timeoutMs : PREPARE_LIMIT_MS;
  }

  private receive(slot: WorkerSlot<Job, Result>, message: WorkerMessage<Result>): void {
    if (this.failure !== undefined) return;
    if (message.kind === "ready") {
      slot.isReady = true;
      slot.failures = 0;
      slot.worker.unref();
      this.sendAll();
      return;
    }
    if (message.kind === "prepared") {
      slot.isPrepared = true;
      this.startFirst(slot);
      return;
    }
    const done = expectDefined(slot.jobs.shift(), "the job that was answered");
    slot.answers++;
    slot.wasLastShort = !message.isLong;
    if (message.isLong) this.waiting.putBack(slot.jobs.splice(0), done.requester);
    if (slot.jobs.length === 0) slot.worker.unref();
    this.startFirst(slot);
    this.sendAll();
    if (message.kind === "done") done.resolve(message.result);
    else done.reject(new WorkerJobError(message.message));
  }

  private terminateFirst(slot: WorkerSlot<Job, Result>): void {
    const terminated = slot.worker;
    this.finishFirst(slot, this.timedOut);
    void terminateWorker(terminated);
  }

  private finishExhausted(slot: WorkerSlot<Job, Result>): void {
    const { logger, name, exhausted } = this.parts;
    const remoteHost = slot.jobs[0]?.requester.remoteHost;
    logger.warn({ remoteHost, thread: name }, "a job filled the memory of its worker thread and was refused");
    this.finishFirst(slot, exhausted);
  }

  private finishFirst(slot: WorkerSlot<Job, Result>, result: Result): void {
    const first = expectDefined(slot.jobs.shift(), "the job that the worker ran");
    this.restart(slot, first.requester);
    first.resolve(result);
  }

  private giveUp({ resolve }: PendingJob<Job, Result>): void {
    resolve(this.timedOut);
  }

  private get timedOut(): Result {
    return this.parts.timedOut(this.settings.timeoutMs);
  }

  private workerFailed(slot: WorkerSlot<Job, Result>, reason: string): void {
    if (this.failure !== undefined) return;
    const failure = new WorkerJobError(reason);
    const lost = slot.jobs.shift();
    lost?.reject(failure);
    slot.failures++;
    if (slot.failures <= FAILURE_LIMIT) this.restart(slot, lost?.requester);
    else this.fail(failure);
  }

  /** Replaces the worker; the jobs that it had not started wait again, those of `requester` behind all others. */
  private restart(slot: WorkerSlot<Job, Result>, requester: Requester | undefined): void {
    this.waiting.putBack(slot.jobs.splice(0), requester);
    slot.timer?.cancel();
    slot.timer = undefined;
    slot.isReady = false;
    slot.isPrepared = false;
    slot.answers = 0;
    slot.wasLastShort = false;
    slot.worker = this.startWorker(() => slot);
    this.sendAll();
  }

  /** Closes the pool with this error, and rejects all jobs. */
  private fail(failure: WorkerJobError): void {
    this.failure = failure;
    for (const slot of this.slots) {
      slot.timer?.cancel();
      for (const { reject } of slot.jobs.splice(0)) reject(failure);
    }
    for (const { reject } of this.waiting.takeAll()) reject(failure);
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
