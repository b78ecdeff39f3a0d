import { Worker } from "node:worker_threads";
import type { Logger } from "../observability/logger.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import type { Requester } from "../primitives/requester.ts";
import { terminateWorker } from "../primitives/workerTermination.ts";
import { FairQueue } from "./fairQueue.ts";
import type { ThreadAnswer, ThreadOrder } from "./workerProtocol.ts";
import type { WorkLoad } from "./workLoad.ts";

/**
 * Work on threads that can be killed (architecture.md#threads): an endless loop in somebody's call costs one
 * thread for some seconds, never a block, and each other caller no more than that.
 *
 *     run ──> waiting, by machine and client ──(a thread has room)─> thread ──> answer
 *                       ^                                              ├── long ──> what it has at hand waits again
 *                       └──────────────────────────────────────────────┴── too long ──> killed, a new one starts
 *
 * Invariants: a thread performs one job at a time, and has a few more at hand as long as they are short; a job that was
 * taken is answered exactly once, whatever happens to its thread; one that fills the heap of its thread harms no other;
 * at most `waitingLimit` jobs wait, and with one more whoever has most of them loses the newest as busy; a job waits for
 * one long job of each other machine and each other client of its own at most; one that nobody waits for any more when a
 * thread has room for it is never begun.
 */
export interface WorkerPool<Job, Result> {
  /** Rejects with SimulationFailure when the threads are closed or lost it. An asker who is gone gets `timedOut`. */
  run(job: Job, requester: Requester): Promise<Result>;
  /** Starts the threads, which start with the first job otherwise: most nodes are never asked for some kinds of jobs. */
  start(): void;
  /** Threads, those of them at work, and jobs that wait for one. */
  readonly load: WorkLoad;
  close(): Promise<void>;
}

export interface ThreadSettings {
  readonly threads: number;
  readonly timeoutMs: number;
  readonly waitingLimit: number;
  /** Of the heap of a thread, for tests. */
  readonly heapMb?: number;
}

export interface ThreadParts<Result> {
  /** What the log calls these threads. */
  readonly name: string;
  /** File of the worker, which performs its jobs by threadJobs.ts. */
  readonly entry: URL;
  readonly workerData: unknown;
  readonly clock: Clock;
  readonly logger: Logger;
  timedOut(limitMs: number): Result;
  /** What the asker gets whose job filled the heap of its thread. */
  readonly exhausted: Result;
  /** What an asker gets who has most waiting when too much waits. */
  readonly busy: Result;
}

export function createThreads<Job, Result>(
  settings: ThreadSettings,
  parts: ThreadParts<Result>,
): WorkerPool<Job, Result> {
  assert(settings.threads > 0, "a pool of threads has at least one");
  return new ThreadPool<Job, Result>(settings, parts);
}

const CLOSED = "the threads are closed";

/** The threads are closed, or lost a job: no result of the call itself. */
class WorkerJobError extends Error {
  override name = "SimulationFailure";
}

/** Short jobs sent to a thread beforehand, so that it need not wait for this thread between two of them. */
const JOBS_PER_THREAD = 8;
/** How often threads at a long job are looked after. A thread takes most of this to start, so none is killed earlier. */
const LOOK_MS = 1000;
/** How long a thread may load what its jobs need: 0.4 s of CPU, for a thread that comes after all others. */
const LOADING_MS = 60_000;
/** Times in a row that a thread may fail to start. */
const FAILURE_LIMIT = 3;
/**
 * Twice what a call may keep (pace.ts), for those who observe it keep something too, and as a last resort. The text of
 * traces and the memory of frames lie outside of it.
 */
const THREAD_HEAP_MB = 512;

interface PendingJob<Job, Result> {
  readonly job: Job;
  readonly requester: Requester;
  resolve(result: Result): void;
  reject(error: Error): void;
}

interface Thread<Job, Result> {
  worker: Worker;
  isReady: boolean;
  /** Whether it has loaded what its jobs need: the time of none counts before. */
  isPrepared: boolean;
  failures: number;
  /** How many jobs the worker has answered. */
  answers: number;
  /** Whether the last of them was short. */
  isQuick: boolean;
  /** Sent to the worker, the one being performed first. */
  jobs: PendingJob<Job, Result>[];
  /** When the first job was begun. */
  begunAtMs: number;
  timer: Timer | undefined;
}

class ThreadPool<Job, Result> implements WorkerPool<Job, Result> {
  private readonly settings: ThreadSettings;
  private readonly parts: ThreadParts<Result>;
  private readonly threads: Thread<Job, Result>[] = [];
  private readonly waiting: FairQueue<PendingJob<Job, Result>>;
  /** Why no job is taken any more; undefined while all is well. */
  private failure: WorkerJobError | undefined;

  constructor(settings: ThreadSettings, parts: ThreadParts<Result>) {
    this.settings = settings;
    this.parts = parts;
    this.waiting = new FairQueue(settings.waitingLimit);
  }

  start(): void {
    if (this.threads.length > 0 || this.failure !== undefined) return;
    for (let count = 0; count < this.settings.threads; count++) this.threads.push(this.createThread());
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
    const busy = this.threads.filter(({ jobs }) => jobs.length > 0);
    const atHand = busy.reduce((sum, { jobs }) => sum + jobs.length - 1, 0);
    return { threads: this.threads.length, active: busy.length, waiting: this.waiting.size + atHand };
  }

  async close(): Promise<void> {
    this.fail(new WorkerJobError(CLOSED));
    await Promise.all(this.threads.map(({ worker }) => terminateWorker(worker)));
  }

  private createThread(): Thread<Job, Result> {
    const thread: Thread<Job, Result> = {
      worker: this.startWorker(() => thread),
      isReady: false,
      isPrepared: false,
      failures: 0,
      answers: 0,
      isQuick: false,
      jobs: [],
      begunAtMs: 0,
      timer: undefined,
    };
    return thread;
  }

  /** Idle threads do not keep the process alive; those that start or work do. */
  private startWorker(threadOf: () => Thread<Job, Result>): Worker {
    const { entry, workerData } = this.parts;
    const { heapMb = THREAD_HEAP_MB } = this.settings;
    const worker = new Worker(entry, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    // A worker that was killed may still have something to say; by then its thread has another.
    const ifCurrent = (act: (thread: Thread<Job, Result>) => void): void => {
      const thread = threadOf();
      if (thread.worker === worker) act(thread);
    };
    let reason = "the thread ended";
    let isExhausted = false;
    worker.on("message", (answer: ThreadAnswer<Result>) =>
      ifCurrent((thread) => this.receive(thread, answer)),
    );
    worker.on("error", (error) => {
      reason = messageOf(error);
      isExhausted = isOutOfMemory(error);
    });
    worker.on("exit", () =>
      ifCurrent((thread) => {
        if (isExhausted && thread.jobs.length > 0) this.endExhausted(thread);
        else this.threadFell(thread, reason);
      }),
    );
    return worker;
  }

  private sendAll(): void {
    for (;;) {
      const thread = this.roomiest();
      const next = thread === undefined ? undefined : this.waiting.take();
      if (thread === undefined || next === undefined) return;
      if (next.requester.isAbandoned()) this.giveUp(next);
      else this.send(thread, next);
    }
  }

  /** The least busy thread that can be sent another job. */
  private roomiest(): Thread<Job, Result> | undefined {
    let roomiest: Thread<Job, Result> | undefined;
    for (const thread of this.threads) {
      const room = thread.isQuick ? JOBS_PER_THREAD : 1;
      if (!thread.isReady || thread.jobs.length >= room) continue;
      if (roomiest === undefined || thread.jobs.length < roomiest.jobs.length) roomiest = thread;
    }
    return roomiest;
  }

  private send(thread: Thread<Job, Result>, pending: PendingJob<Job, Result>): void {
    thread.jobs.push(pending);
    const order: ThreadOrder<Job> = { job: pending.job, answersSeen: thread.answers };
    thread.worker.postMessage(order);
    if (thread.jobs.length > 1) return;
    thread.worker.ref();
    this.beginFirst(thread);
  }

  /** The time limit runs from here on. */
  private beginFirst(thread: Thread<Job, Result>): void {
    if (thread.jobs.length === 0) return;
    thread.begunAtMs = this.parts.clock.nowMs();
    if (thread.timer === undefined) this.watch(thread);
  }

  /**
   * One alarm serves many short jobs: it looks whether the first one is overdue, and is set anew if not. If it comes late,
   * then this thread was held, and perhaps the whole machine, which is no job's fault. And what was answered meanwhile is
   * received only after the alarm, in the same turn of the loop.
   */
  private watch(thread: Thread<Job, Result>): void {
    const { clock } = this.parts;
    const oldEnoughAtMs = thread.begunAtMs + LOOK_MS;
    const nextLookAtMs = oldEnoughAtMs > clock.nowMs() ? oldEnoughAtMs : clock.nowMs() + LOOK_MS;
    const lookAtMs = Math.min(thread.begunAtMs + this.limitMsOf(thread), nextLookAtMs);
    thread.timer = clock.at(lookAtMs, () => {
      const nowMs = clock.nowMs();
      thread.begunAtMs = Math.min(nowMs, thread.begunAtMs + nowMs - lookAtMs);
      const look = setImmediate(() => this.look(thread));
      thread.timer = { cancel: () => clearImmediate(look) };
    });
  }

  private look(thread: Thread<Job, Result>): void {
    thread.timer = undefined;
    for (const abandoned of this.waiting.takeAbandoned()) this.giveUp(abandoned);
    const [first] = thread.jobs;
    if (first === undefined) return;
    const tookMs = this.parts.clock.nowMs() - thread.begunAtMs;
    const isInVain = thread.isPrepared && tookMs >= LOOK_MS && first.requester.isAbandoned();
    if (isInVain || tookMs >= this.limitMsOf(thread)) this.killFirst(thread);
    else this.watch(thread);
  }

  private limitMsOf({ isPrepared }: Thread<Job, Result>): number {
    return isPrepared ? this.settings.timeoutMs : LOADING_MS;
  }

  private receive(thread: Thread<Job, Result>, answer: ThreadAnswer<Result>): void {
    if (this.failure !== undefined) return;
    if (answer.kind === "ready") {
      thread.isReady = true;
      thread.failures = 0;
      thread.worker.unref();
      this.sendAll();
      return;
    }
    if (answer.kind === "prepared") {
      thread.isPrepared = true;
      this.beginFirst(thread);
      return;
    }
    const done = expectDefined(thread.jobs.shift(), "the job that was answered");
    thread.answers++;
    thread.isQuick = !answer.isLong;
    if (answer.isLong) this.waiting.putBack(thread.jobs.splice(0), done.requester);
    if (thread.jobs.length === 0) thread.worker.unref();
    this.beginFirst(thread);
    this.sendAll();
    if (answer.kind === "done") done.resolve(answer.result);
    else done.reject(new WorkerJobError(answer.message));
  }

  private killFirst(thread: Thread<Job, Result>): void {
    const killed = thread.worker;
    this.endFirst(thread, this.timedOut);
    void terminateWorker(killed);
  }

  private endExhausted(thread: Thread<Job, Result>): void {
    const { logger, name, exhausted } = this.parts;
    const remoteHost = thread.jobs[0]?.requester.remoteHost;
    logger.warn({ remoteHost, thread: name }, "a call filled the memory of its thread, and was refused");
    this.endFirst(thread, exhausted);
  }

  private endFirst(thread: Thread<Job, Result>, result: Result): void {
    const first = expectDefined(thread.jobs.shift(), "the job that its thread ends with");
    this.restart(thread, first.requester);
    first.resolve(result);
  }

  private giveUp({ resolve }: PendingJob<Job, Result>): void {
    resolve(this.timedOut);
  }

  private get timedOut(): Result {
    return this.parts.timedOut(this.settings.timeoutMs);
  }

  private threadFell(thread: Thread<Job, Result>, reason: string): void {
    if (this.failure !== undefined) return;
    const failure = new WorkerJobError(reason);
    const lost = thread.jobs.shift();
    lost?.reject(failure);
    thread.failures++;
    if (thread.failures <= FAILURE_LIMIT) this.restart(thread, lost?.requester);
    else this.fail(failure);
  }

  /** A new worker takes over; jobs that the old one had not begun, after one of `asker`, wait again. */
  private restart(thread: Thread<Job, Result>, requester: Requester | undefined): void {
    this.waiting.putBack(thread.jobs.splice(0), requester);
    thread.timer?.cancel();
    thread.timer = undefined;
    thread.isReady = false;
    thread.isPrepared = false;
    thread.answers = 0;
    thread.isQuick = false;
    thread.worker = this.startWorker(() => thread);
    this.sendAll();
  }

  /** Takes no more jobs, and refuses those at hand. */
  private fail(failure: WorkerJobError): void {
    this.failure = failure;
    for (const thread of this.threads) {
      thread.timer?.cancel();
      for (const { reject } of thread.jobs.splice(0)) reject(failure);
    }
    for (const { reject } of this.waiting.takeAll()) reject(failure);
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
