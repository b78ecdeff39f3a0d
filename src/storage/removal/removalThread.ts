import type { Logger } from "../../observability/logger.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { workerEntry } from "../../workers/workerEntry.ts";
import { startWorkerThread, type WorkerThread } from "../../workers/workerThread.ts";
import type { DatabaseOnDisk } from "../database.ts";
import { diskErrorOfThread } from "../diskErrors.ts";

interface RemovalThreadSettings {
  readonly worker: "blockRemovalWorker" | "stateRemovalWorker";
  /** Folder of the chain's database, which this thread has open. */
  readonly path: string;
  readonly heapMb: number;
  /** What the thread removes, for the log. */
  readonly removed: "old blocks" | "old states";
}

interface RemovalThreadParts<Report> {
  readonly database: Pick<DatabaseOnDisk, "compact">;
  readonly clock: Clock;
  readonly logger: Logger;
  receive(report: Report): void;
  /** Called when the disk failed. A part of a write may be in LevelDB's log, after which no other write may follow. */
  fail(error: Error): void;
}

/**
 * The worker thread of a removal, from its first command on. A thread that fails is restarted after a while, with the last
 * command, unless the disk failed. It writes at the same time as the main thread: its batches are small, and share no key
 * with those of the chain. Close it before the database.
 */
export class RemovalThread<Command, Report extends { readonly isDone: boolean }> {
  private readonly settings: RemovalThreadSettings;
  private readonly parts: RemovalThreadParts<Report>;
  private command: Command | undefined;
  private thread: WorkerThread | undefined;
  private starting: Promise<void> | undefined;
  private retry: Timer | undefined;
  private retryMs = FIRST_RETRY_MS;
  private isClosed = false;

  constructor(settings: RemovalThreadSettings, parts: RemovalThreadParts<Report>) {
    this.settings = settings;
    this.parts = parts;
  }

  /** Gives the thread a command, which replaces earlier ones; starts the thread if none runs. */
  run(command: Command): void {
    if (this.isClosed) return;
    this.command = command;
    if (this.thread !== undefined) this.thread.post(command);
    else if (this.retry === undefined) this.starting ??= this.start();
  }

  get isRunning(): boolean {
    return this.starting !== undefined || this.thread !== undefined;
  }

  /** Lets the thread end its step. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.retry?.cancel();
    await this.starting;
    await this.thread?.close("close");
  }

  private async start(): Promise<void> {
    try {
      await this.parts.database.compact(NOTHING);
      if (!this.isClosed) this.thread = this.startThread();
      this.thread?.post(this.command);
    } catch (error) {
      this.failed(error);
    } finally {
      this.starting = undefined;
    }
  }

  private startThread(): WorkerThread {
    const { worker, path, heapMb } = this.settings;
    const thread = startWorkerThread<Report>(
      { entry: workerEntry(worker), workerData: { path }, heapMb },
      {
        receive: (report) => {
          // A thread that has only begun may fail in the same way again.
          if (report.isDone) this.retryMs = FIRST_RETRY_MS;
          this.parts.receive(report);
        },
        ended: (error) => {
          this.thread = undefined;
          this.failed(error);
        },
      },
    );
    thread.keepProcessAlive(false);
    return thread;
  }

  private failed(error: unknown): void {
    if (this.isClosed) return;
    const diskError = error instanceof Error ? diskErrorOfThread(error) : undefined;
    if (diskError !== undefined) {
      this.parts.fail(diskError);
      return;
    }
    const { clock, logger } = this.parts;
    const { retryMs } = this;
    logger.warn({ error, retryMs }, `${this.settings.removed} cannot be removed now; retrying later`);
    this.retry = clock.at(clock.nowMs() + retryMs, () => {
      this.retry = undefined;
      this.starting ??= this.start();
    });
    this.retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
  }
}

/**
 * An empty range to compact. LevelDB has one thread for background work in a process. It starts with the first such work,
 * with the priority of the thread that requests it, which must not be the worker.
 */
const NOTHING = { from: Uint8Array.of(0), until: Uint8Array.of(0) };
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
