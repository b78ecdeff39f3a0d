import type { Logger } from "../observability/logger.ts";
import { expectDefined } from "../primitives/assert.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import type { Requester } from "../primitives/requester.ts";
import type { SliceLimits } from "../primitives/timeSlice.ts";
import { SupervisedThread } from "./supervisedThread.ts";
import { isLongJob, type JobMessage, type WorkerMessage } from "./workerProtocol.ts";

/** A job whose requester waits for the result. */
export interface PendingJob<Job, Result> {
  readonly job: Job;
  readonly requester: Requester;
  /** Whether its next slice is a long one, where jobs have slices. */
  hasLongSlice: boolean;
  resolve(result: Result): void;
  reject(error: Error): void;
}

/** Time of a job on a processor, milliseconds: at first, and when it is begun anew. */
export interface Slices {
  readonly shortMs: number;
  readonly longMs: number;
  /** Number of times as long that a slice lasts at most where its thread has to wait for a processor. */
  readonly longestFactor: number;
}

export interface JobThreadSettings {
  /** Time limit of a job. */
  readonly timeoutMs: number;
  /** Times after which the worker gives a job up by itself; absent where a job may take until its time limit. */
  readonly slices?: Slices | undefined;
  /** Heap of the worker; another one in tests. */
  readonly heapMb?: number;
}

export interface JobThreadParts<Result> {
  /** Name of the pool in the log. */
  readonly name: string;
  /** File of the worker, which runs its jobs with workerHost.ts. */
  readonly entry: URL;
  readonly workerData: unknown;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Result of a job that filled the heap of its worker. */
  readonly exhausted: Result;
}

/** The queue that a worker is sent its jobs from. */
export interface JobSource<Job, Result> {
  /** A worker worked on the job for so long. */
  charge(pending: PendingJob<Job, Result>, tookMs: number): void;
  /** A job used up its slice, or was terminated at the time limit. */
  exceeded(pending: PendingJob<Job, Result>): void;
  /** Queues jobs again that the worker had not started, those of `served` behind all others. */
  putBack(jobs: readonly PendingJob<Job, Result>[], served: Requester | undefined): void;
  /** Called when the worker may have capacity again, or cannot run any more. */
  sendAll(): void;
  /** Gives up the queued jobs whose requesters are gone. */
  dropAbandoned(): void;
}

/** The pool is closed, or a worker failed or ended: not a result of the job itself. */
export class WorkerJobError extends Error {
  override name = "WorkerJobError";
}

/** Jobs sent to a worker in advance while its jobs are short, so that it does not wait for this thread between them. */
const JOBS_PER_WORKER = 8;
/** Interval of the checks of a long job. Restarting a worker takes most of it, so no abandoned job is terminated earlier. */
const CHECK_MS = 1000;
/** Time limit for preparing a worker: it takes 0.4 s of CPU, on a thread of low priority. */
const PREPARE_LIMIT_MS = 60_000;
/**
 * Heap of one worker: twice the memory budget of a call, since tracers keep data as well. A last resort. The text of
 * traces and the memory of call frames lie outside the heap.
 */
const WORKER_HEAP_MB = 512;

/** One worker of a pool (workerPool.ts), and the jobs sent to it. Terminates it when a job is over its time limit. */
export class JobThread<Job, Result> {
  private readonly settings: JobThreadSettings;
  private readonly parts: JobThreadParts<Result>;
  private readonly source: JobSource<Job, Result>;
  private readonly thread: SupervisedThread<WorkerMessage<Result>>;
  /** Jobs sent to the worker, the running one first. */
  private readonly jobs: PendingJob<Job, Result>[] = [];
  /** Whether it has loaded what its jobs need; the time limit of a job starts only then. */
  private isPrepared = false;
  /** Number of jobs that the worker has answered. */
  private answers = 0;
  /** Whether its last job was short. */
  private wasLastShort = false;
  /** Start of the first job. */
  private startedAtMs = 0;
  private timer: Timer | undefined;

  constructor(settings: JobThreadSettings, parts: JobThreadParts<Result>, source: JobSource<Job, Result>) {
    this.settings = settings;
    this.parts = parts;
    this.source = source;
    const { heapMb = WORKER_HEAP_MB } = settings;
    const { entry, workerData } = parts;
    this.thread = new SupervisedThread<WorkerMessage<Result>>(
      { entry, workerData, heapMb },
      {
        ready: () => source.sendAll(),
        receive: (message) => this.receive(message),
        died: (error) => this.died(error),
      },
    );
  }

  start(): void {
    this.thread.start();
  }

  get isStarted(): boolean {
    return this.thread.isStarted;
  }

  get failure(): Error | undefined {
    return this.thread.failure;
  }

  /** Number of jobs sent to the worker and not answered. */
  get jobCount(): number {
    return this.jobs.length;
  }

  get canTakeJob(): boolean {
    return this.thread.isReady && this.jobs.length < (this.wasLastShort ? JOBS_PER_WORKER : 1);
  }

  send(pending: PendingJob<Job, Result>): void {
    this.jobs.push(pending);
    // What the first job of a worker needs is not compiled yet.
    if (!this.isPrepared) pending.hasLongSlice = true;
    const slice = this.sliceOf(pending);
    const message: JobMessage<Job> = { job: pending.job, answersSeen: this.answers, slice };
    this.thread.post(message);
    if (this.jobs.length > 1) return;
    this.thread.setBusy(true);
    this.startFirst();
  }

  /** Rejects the jobs, and terminates the worker for good. */
  async close(error: Error): Promise<void> {
    this.timer?.cancel();
    for (const { reject } of this.jobs.splice(0)) reject(error);
    await this.thread.close();
  }

  private sliceOf({ hasLongSlice }: PendingJob<Job, Result>): SliceLimits | undefined {
    const { slices } = this.settings;
    if (slices === undefined) return undefined;
    const cpuMs = hasLongSlice ? slices.longMs : slices.shortMs;
    return { cpuMs, longestMs: cpuMs * slices.longestFactor };
  }

  private receive(message: WorkerMessage<Result>): void {
    if (message.kind === "prepared") {
      this.isPrepared = true;
      this.startFirst();
      return;
    }
    const done = expectDefined(this.jobs.shift(), "the job that was answered");
    this.answers++;
    const isLong = isLongJob(message);
    this.wasLastShort = !isLong;
    this.source.charge(done, message.tookMs);
    if (isLong) this.source.putBack(this.jobs.splice(0), done.requester);
    if (this.jobs.length === 0) this.thread.setBusy(false);
    this.startFirst();
    this.source.sendAll();
    if (message.kind === "done") done.resolve(message.result);
    else if (message.kind === "sliceUsedUp") this.source.exceeded(done);
    else done.reject(new WorkerJobError(message.message));
  }

  /** Starts the time limit of the first job. */
  private startFirst(): void {
    if (this.jobs.length === 0) return;
    this.startedAtMs = this.parts.clock.nowMs();
    if (this.timer === undefined) this.setTimer();
  }

  /**
   * Sets one timer for many short jobs: it checks whether the first job is overdue, and is set again if not. A late timer
   * means that this thread, or the whole machine, was blocked, so that delay is not counted for the job. Results that
   * arrived meanwhile are received after the timer in the same event-loop cycle, hence the setImmediate.
   */
  private setTimer(): void {
    const { clock } = this.parts;
    const abandonableAtMs = this.startedAtMs + CHECK_MS;
    const nextCheckAtMs = abandonableAtMs > clock.nowMs() ? abandonableAtMs : clock.nowMs() + CHECK_MS;
    const checkAtMs = Math.min(this.startedAtMs + this.limitMs, nextCheckAtMs);
    this.timer = clock.at(checkAtMs, () => {
      const nowMs = clock.nowMs();
      this.startedAtMs = Math.min(nowMs, this.startedAtMs + nowMs - checkAtMs);
      const check = setImmediate(() => this.check());
      this.timer = { cancel: () => clearImmediate(check) };
    });
  }

  private check(): void {
    this.timer = undefined;
    this.source.dropAbandoned();
    const [first] = this.jobs;
    if (first === undefined) return;
    const tookMs = this.parts.clock.nowMs() - this.startedAtMs;
    const isAbandoned = this.isPrepared && tookMs >= CHECK_MS && first.requester.isAbandoned();
    if (isAbandoned || tookMs >= this.limitMs) this.terminateFirst(tookMs);
    else this.setTimer();
  }

  private get limitMs(): number {
    return this.isPrepared ? this.settings.timeoutMs : PREPARE_LIMIT_MS;
  }

  private terminateFirst(tookMs: number): void {
    this.thread.restart();
    const first = this.takeBack();
    if (first !== undefined) this.source.charge(first, tookMs);
    this.source.sendAll();
    if (first === undefined) return;
    // The job would be terminated again in a short slice.
    first.hasLongSlice = true;
    this.source.exceeded(first);
  }

  private died(error: Error): void {
    const { logger, name, exhausted, clock } = this.parts;
    const first = this.takeBack();
    if (first !== undefined) this.source.charge(first, clock.nowMs() - this.startedAtMs);
    this.source.sendAll();
    if (first === undefined) return;
    if (!isOutOfMemory(error)) {
      first.reject(new WorkerJobError(error.message));
      return;
    }
    const { remoteHost } = first.requester;
    logger.warn({ remoteHost, thread: name }, "a job filled the memory of its worker thread and was refused");
    first.resolve(exhausted);
  }

  /** Removes all jobs when the worker is replaced. Those that it had not started wait again; returns the one that it ran. */
  private takeBack(): PendingJob<Job, Result> | undefined {
    this.timer?.cancel();
    this.timer = undefined;
    this.isPrepared = false;
    this.answers = 0;
    this.wasLastShort = false;
    const [first, ...others] = this.jobs.splice(0);
    this.source.putBack(others, first?.requester);
    return first;
  }
}

function isOutOfMemory(error: Error): boolean {
  return "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
