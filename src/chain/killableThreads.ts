import { Worker } from "node:worker_threads";
import { assert, present } from "../primitives/assert.ts";
import type { Alarm, Clock } from "../primitives/clock.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { workerEntry } from "../primitives/workerEntry.ts";
import type { WorkLoad } from "../primitives/workLoad.ts";

/**
 * Work on threads that can be killed (architecture.md, decision 6): an endless loop in somebody's call costs one thread
 * for some seconds, never a block.
 *
 *     run ──> waiting ──(a thread has room)─> thread ──> answer
 *                                               └── too long ──> killed, a new one starts, the job is timed out
 *
 * Invariants: a thread performs one job at a time, and has a few more at hand; a job that was taken is answered exactly
 * once, whatever happens to its thread; at most `waitingLimit` jobs wait, and one more is refused as busy.
 */
export interface KillableThreads<Job, Result> {
  /** Rejects with SimulationFailure when the threads cannot take it, or lost it. */
  run(job: Job): Promise<Result>;
  /** Threads, those of them at work, and jobs that wait for one. */
  readonly load: WorkLoad;
  close(): Promise<void>;
}

export interface ThreadSettings {
  readonly threads: number;
  readonly timeoutMs: number;
  readonly waitingLimit: number;
}

export interface ThreadParts<Result> {
  /** File of the worker, beside this one, which answers with ThreadAnswer. */
  readonly entry: string;
  readonly workerData: unknown;
  readonly clock: Clock;
  timedOut(limitMs: number): Result;
}

/** What a thread says: first that it is ready, then one answer for each job, in their order. */
export type ThreadAnswer<Result> =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly result: Result }
  /** Broken machinery, such as damaged data; the text is for the log. */
  | { readonly kind: "failed"; readonly message: string };

export function startThreads<Job, Result>(
  settings: ThreadSettings,
  parts: ThreadParts<Result>,
): KillableThreads<Job, Result> {
  assert(settings.threads > 0, "a pool of threads has at least one");
  return new ThreadPool<Job, Result>(settings, parts);
}

/** The same for jobs that most nodes are never asked for: the threads start with the first of them. */
export function startThreadsLate<Job, Result>(
  settings: ThreadSettings,
  parts: ThreadParts<Result>,
): Omit<KillableThreads<Job, Result>, "load"> {
  let threads: KillableThreads<Job, Result> | undefined;
  let isClosed = false;
  return {
    run(job) {
      if (isClosed) return Promise.reject(new SimulationFailure(CLOSED));
      threads ??= startThreads<Job, Result>(settings, parts);
      return threads.run(job);
    },
    async close() {
      isClosed = true;
      await threads?.close();
    },
  };
}

const CLOSED = "the threads are closed";

/** The threads cannot take a job, or lost it: no result of the call itself. */
export class SimulationFailure extends Error {
  override name = "SimulationFailure";
}

/** Jobs sent to a thread beforehand, so that it need not wait for this thread between two of them. */
const JOBS_PER_THREAD = 8;
/** Times in a row that a thread may fail to start. */
const FAILURE_LIMIT = 3;
/** What contracts allocate is bounded by gas; this bounds what the gas of a very large block could buy. */
const THREAD_MEMORY_MB = 512;

interface PendingJob<Job, Result> {
  readonly job: Job;
  resolve(result: Result): void;
  reject(error: Error): void;
}

interface Thread<Job, Result> {
  worker: Worker;
  isReady: boolean;
  failures: number;
  /** Sent to the worker, the one being performed first. */
  jobs: PendingJob<Job, Result>[];
  /** When the first job was begun. */
  begunAtMs: number;
  alarm: Alarm | undefined;
}

class ThreadPool<Job, Result> implements KillableThreads<Job, Result> {
  private readonly settings: ThreadSettings;
  private readonly parts: ThreadParts<Result>;
  private readonly threads: Thread<Job, Result>[];
  private readonly waiting: PendingJob<Job, Result>[] = [];
  /** Why no job is taken any more; undefined while all is well. */
  private failure: SimulationFailure | undefined;

  constructor(settings: ThreadSettings, parts: ThreadParts<Result>) {
    this.settings = settings;
    this.parts = parts;
    this.threads = Array.from({ length: settings.threads }, () => this.createThread());
  }

  run(job: Job): Promise<Result> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (this.waiting.length >= this.settings.waitingLimit)
      return Promise.reject(new SimulationFailure("too many calls are waiting"));
    return new Promise((resolve, reject) => {
      this.waiting.push({ job, resolve, reject });
      this.sendAll();
    });
  }

  get load(): WorkLoad {
    const busy = this.threads.filter(({ jobs }) => jobs.length > 0);
    const atHand = busy.reduce((sum, { jobs }) => sum + jobs.length - 1, 0);
    return { threads: this.threads.length, active: busy.length, waiting: this.waiting.length + atHand };
  }

  async close(): Promise<void> {
    this.fail(new SimulationFailure(CLOSED));
    await Promise.all(this.threads.map(({ worker }) => worker.terminate()));
  }

  private createThread(): Thread<Job, Result> {
    const thread: Thread<Job, Result> = {
      worker: this.startWorker(() => thread),
      isReady: false,
      failures: 0,
      jobs: [],
      begunAtMs: 0,
      alarm: undefined,
    };
    return thread;
  }

  private startWorker(threadOf: () => Thread<Job, Result>): Worker {
    const { entry, workerData } = this.parts;
    const worker = new Worker(workerEntry(import.meta.url, entry), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
    });
    // A worker that was killed may still have something to say; by then its thread has another.
    const ifCurrent = (act: (thread: Thread<Job, Result>) => void): void => {
      const thread = threadOf();
      if (thread.worker === worker) act(thread);
    };
    let reason = "the thread ended";
    worker.on("message", (answer: ThreadAnswer<Result>) =>
      ifCurrent((thread) => this.receive(thread, answer)),
    );
    worker.on("error", (error) => {
      reason = messageOf(error);
    });
    worker.on("exit", () => ifCurrent((thread) => this.threadFell(thread, reason)));
    // Idle threads do not keep the process alive; those at work do.
    worker.unref();
    return worker;
  }

  /** To the least busy thread first. */
  private sendAll(): void {
    while (this.waiting.length > 0) {
      let idlest: Thread<Job, Result> | undefined;
      for (const thread of this.threads)
        if (idlest === undefined || thread.jobs.length < idlest.jobs.length) idlest = thread;
      if (idlest === undefined || idlest.jobs.length >= JOBS_PER_THREAD) return;
      const next = this.waiting.shift();
      if (next !== undefined) this.send(idlest, next);
    }
  }

  private send(thread: Thread<Job, Result>, pending: PendingJob<Job, Result>): void {
    thread.jobs.push(pending);
    thread.worker.postMessage(pending.job);
    if (thread.jobs.length > 1) return;
    thread.worker.ref();
    this.beginFirst(thread);
  }

  /** The time limit runs from here on. A thread that is still starting begins when it is ready. */
  private beginFirst(thread: Thread<Job, Result>): void {
    if (!thread.isReady || thread.jobs.length === 0) return;
    thread.begunAtMs = this.parts.clock.nowMs();
    if (thread.alarm === undefined) this.watch(thread);
  }

  /** One alarm serves many short jobs: it looks whether the first one is overdue, and is set anew if not. */
  private watch(thread: Thread<Job, Result>): void {
    const { clock } = this.parts;
    thread.alarm = clock.at(thread.begunAtMs + this.settings.timeoutMs, () => {
      thread.alarm = undefined;
      if (thread.jobs.length === 0) return;
      if (clock.nowMs() >= thread.begunAtMs + this.settings.timeoutMs) this.killOverdue(thread);
      else this.watch(thread);
    });
  }

  private receive(thread: Thread<Job, Result>, answer: ThreadAnswer<Result>): void {
    if (answer.kind === "ready") {
      thread.isReady = true;
      thread.failures = 0;
      this.beginFirst(thread);
      return;
    }
    if (this.failure !== undefined) return;
    const done = present(thread.jobs.shift(), "the job that was answered");
    if (thread.jobs.length === 0) thread.worker.unref();
    this.beginFirst(thread);
    this.sendAll();
    if (answer.kind === "done") done.resolve(answer.result);
    else done.reject(new SimulationFailure(answer.message));
  }

  private killOverdue(thread: Thread<Job, Result>): void {
    const overdue = thread.jobs.shift();
    const killed = thread.worker;
    this.restart(thread);
    void killed.terminate();
    overdue?.resolve(this.parts.timedOut(this.settings.timeoutMs));
  }

  private threadFell(thread: Thread<Job, Result>, reason: string): void {
    if (this.failure !== undefined) return;
    const failure = new SimulationFailure(reason);
    thread.jobs.shift()?.reject(failure);
    thread.failures++;
    if (thread.failures <= FAILURE_LIMIT) this.restart(thread);
    else this.fail(failure);
  }

  /** A new worker takes over; jobs that the old one had not begun go back to the head of the queue. */
  private restart(thread: Thread<Job, Result>): void {
    this.waiting.unshift(...thread.jobs.splice(0));
    thread.alarm?.cancel();
    thread.alarm = undefined;
    thread.isReady = false;
    thread.worker = this.startWorker(() => thread);
    this.sendAll();
  }

  /** Takes no more jobs, and refuses those at hand. */
  private fail(failure: SimulationFailure): void {
    this.failure = failure;
    for (const thread of this.threads) {
      thread.alarm?.cancel();
      for (const { reject } of thread.jobs.splice(0)) reject(failure);
    }
    for (const { reject } of this.waiting.splice(0)) reject(failure);
  }
}
