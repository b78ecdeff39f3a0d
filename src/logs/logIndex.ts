import type { ChainReader } from "../chain/chainReader.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { removeSegments } from "../storage/blooms/bloomFiles.ts";
import { workerEntry } from "../workers/workerEntry.ts";
import { startWorkerThread, type WorkerThread } from "../workers/workerThread.ts";
import { LogIndexBacklog, segmentOf } from "./logIndexBacklog.ts";
import type { LogIndexReport, LogIndexTask, LogIndexWorkerData } from "./logIndexWorker.ts";

interface LogIndexSettings {
  /** Directory of the database, which this thread has open. */
  readonly databasePath: string;
  /** Directory of the bloom files; created with the first file. */
  readonly folder: string;
  /** Whether files are written without a request (--auto-log-bloom-caching-enabled). */
  readonly isAutomatic: boolean;
  /** Delay of the first file after the start, so that writing it does not slow the start down. */
  readonly delayMs: number;
}

interface LogIndexParts {
  readonly chain: Pick<ChainReader, "head" | "onHeadChanged">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Progress, in block numbers. */
export interface LogIndexStatus {
  /** Range of the last request. */
  readonly from: bigint;
  readonly to: bigint;
  /** The newest block written since the start. */
  readonly current: bigint;
  readonly isIndexing: boolean;
}

/** Pause as a multiple of the work's time: a third of one core at most, because searches use the headers meanwhile. */
const PAUSE_RATIO = 2;
const THREAD_MEMORY_MB = 128;

/**
 * Maintains the bloom files (storage/blooms/bloomFiles.ts), which speed up searches for old logs. A worker thread writes
 * them; it starts for each task and ends with it:
 *
 *     start, or a thousand more blocks ──> write the missing files
 *     a request, or a file that a search found invalid ──> rewrite these segments
 *
 * One task runs at a time. An operator's request is refused meanwhile, the node's own tasks wait.
 */
export class LogIndex {
  private readonly settings: LogIndexSettings;
  private readonly parts: LogIndexParts;
  private readonly backlog: LogIndexBacklog;
  private readonly startTimer: Timer;
  private readonly stopListening: () => void;
  private requested = { from: 0n, to: 0n };
  private current = 0n;
  private running: { readonly thread: WorkerThread; readonly task: LogIndexTask } | undefined;
  /** True until the start delay is over, and after a failure until new blocks need to be written, to spare a failing disk. */
  private isPaused = true;
  private isClosed = false;

  constructor(settings: LogIndexSettings, parts: LogIndexParts) {
    const { chain, clock } = parts;
    this.settings = settings;
    this.parts = parts;
    this.backlog = new LogIndexBacklog(settings.isAutomatic);
    this.stopListening = chain.onHeadChanged("logIndex", ({ head, added, removed }) => {
      const change = { wasExtended: added.length > 0, wasRewound: removed.length > 0 };
      if (this.backlog.headChanged(head.header.number, change)) this.resume();
    });
    this.startTimer = clock.at(clock.nowMs() + settings.delayMs, () => this.resume());
  }

  get status(): LogIndexStatus {
    return { ...this.requested, current: this.current, isIndexing: this.running !== undefined };
  }

  /** Rewrites the files of the segments with blocks `from` to `to`. Returns false while a task runs. */
  generate(from: bigint, to: bigint): boolean {
    if (this.running !== undefined || from >= to) return false;
    this.requested = { from, to };
    this.startTask({ first: segmentOf(from), last: segmentOf(to - 1n), isRewrite: true });
    return true;
  }

  /** Removes the files with blocks `from` to `to`, and ends the running task. */
  async remove(from: bigint, to: bigint): Promise<void> {
    const ended = this.running;
    this.running = undefined;
    await ended?.thread.terminate();
    removeSegments(this.settings.folder, segmentOf(from), segmentOf(to));
  }

  /** Rewrites the files of all segments before that of block `before`. Returns false while a task runs. */
  repair(before: bigint): boolean {
    if (this.running !== undefined) return false;
    const last = segmentOf(before) - 1;
    if (last >= 0) this.startTask({ first: 0, last, isRewrite: true });
    return true;
  }

  /** Called when a search finds the file of a segment invalid: the file is rewritten. */
  readonly reportInvalid = (segment: number): void => {
    const isBeingWritten = this.running !== undefined && isRewriting(this.running.task, segment);
    if (isBeingWritten || !this.backlog.reportInvalid(segment)) return;
    this.parts.logger.warn({ segment }, "a file of the log index is invalid and is rewritten");
    this.startNextTask();
  };

  async close(): Promise<void> {
    this.isClosed = true;
    this.startTimer.cancel();
    this.stopListening();
    await this.running?.thread.terminate();
  }

  private get head(): bigint {
    return this.parts.chain.head.header.number;
  }

  private resume(): void {
    this.isPaused = false;
    this.startNextTask();
  }

  private startNextTask(): void {
    if (this.isClosed || this.isPaused || this.running !== undefined) return;
    const task = this.backlog.take(this.head);
    if (task !== undefined) this.startTask(task);
  }

  private startTask(task: LogIndexTask): void {
    const { databasePath, folder } = this.settings;
    const workerData: LogIndexWorkerData = { databasePath, folder, task, pauseRatio: PAUSE_RATIO };
    let written: number | undefined;
    const thread = startWorkerThread<LogIndexReport>(
      { entry: workerEntry("logIndexWorker"), workerData, heapMb: THREAD_MEMORY_MB },
      {
        receive: (report) => {
          if (report.kind === "progress") this.current = report.block;
          else written = report.written;
        },
        ended: ({ message }) => {
          this.running = undefined;
          if (written === undefined) this.onFailed(message);
          else this.onWritten(task, written);
        },
      },
    );
    thread.keepProcessAlive(false);
    this.running = { thread, task };
  }

  private onWritten(task: LogIndexTask, files: number): void {
    this.backlog.written(task, this.head);
    this.parts.logger.debug({ files, block: this.current }, "the log index was written");
    this.startNextTask();
  }

  private onFailed(reason: string): void {
    this.isPaused = true;
    this.parts.logger.warn({ reason }, "the log index could not be written; headers are searched instead");
  }
}

function isRewriting({ first, last, isRewrite }: LogIndexTask, segment: number): boolean {
  return isRewrite && segment >= first && segment <= last;
}
