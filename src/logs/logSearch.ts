import type { Clock, Timer } from "../primitives/clock.ts";
import { FairQueue } from "../primitives/fairQueue.ts";
import type { JsonPiece } from "../primitives/jsonPieces.ts";
import type { Requester } from "../primitives/requester.ts";
import { SupervisedThread } from "../workers/supervisedThread.ts";
import { workerEntry } from "../workers/workerEntry.ts";
import type { FindLogs, FoundLogs } from "./findLogs.ts";
import type { BlockRange, LogCriteria } from "./logQuery.ts";
import type { LogSearchCommand, LogSearchMessage, LogSearchWorkerData } from "./logSearchWorker.ts";

/**
 * Searches for logs in ranges of many blocks on a worker thread, which reads the database itself and also writes the JSON
 * (architecture.md#threads); the main thread only passes it on. The worker starts with the first search.
 *
 * Invariants: each search gets exactly one result, whatever happens to the worker; waiting searches are started round
 * robin by remote host and client, and when too many wait, the requester with the most loses its newest one as busy.
 */
export interface LogSearch {
  readonly find: FindLogs;
  close(): Promise<void>;
}

export interface LogSearchParts {
  /** Directory of the database, which this thread has open. */
  readonly databasePath: string;
  /** Directory of the bloom files. */
  readonly bloomFolder: string;
  readonly clock: Clock;
  /** Called when the file of a segment is invalid. */
  onInvalidSegment(segment: number): void;
}

/** Limits of running searches, of extra ones for remote hosts without a running one, and of waiting ones. */
export const MAX_RUNNING_SEARCHES = 32;
const MAX_EXTRA_SEARCHES = 32;
export const MAX_WAITING_SEARCHES = 1_000;

interface Job {
  readonly criteria: LogCriteria;
  readonly range: BlockRange;
  readonly requester: Requester;
  readonly pieces: JsonPiece[];
  resolve(found: FoundLogs): void;
  reject(error: Error): void;
}

/** The worker failed or ended, or the search is closed: not a result of a search. */
class LogSearchError extends Error {
  override name = "LogSearchError";
}

export function createLogSearch(parts: LogSearchParts): LogSearch {
  return new ThreadedLogSearch(parts);
}

/** Interval at which abandoned searches are dropped. */
const ABANDON_CHECK_MS = 250;
/** Holds what running searches have found so far, and one large answer. */
const THREAD_MEMORY_MB = 512;

class ThreadedLogSearch implements LogSearch {
  private readonly parts: LogSearchParts;
  private readonly thread: SupervisedThread<LogSearchMessage>;
  private readonly running = new Map<number, Job>();
  private readonly waiting = new FairQueue<Job>(MAX_WAITING_SEARCHES);
  private abandonTimer: Timer | undefined;
  private lastId = 0;
  private isClosed = false;

  constructor(parts: LogSearchParts) {
    this.parts = parts;
    const { databasePath, bloomFolder } = parts;
    const workerData: LogSearchWorkerData = { databasePath, bloomFolder };
    this.thread = new SupervisedThread<LogSearchMessage>(
      { entry: workerEntry("logSearchWorker"), workerData, heapMb: THREAD_MEMORY_MB },
      {
        ready: () => undefined,
        receive: (message) => this.receive(message),
        died: ({ message }) => this.failAll(new LogSearchError(message)),
      },
    );
  }

  readonly find: FindLogs = (criteria, range, requester) => {
    if (this.isClosed) return Promise.reject(new LogSearchError("the search is closed"));
    const { failure } = this.thread;
    if (failure !== undefined) return Promise.reject(new LogSearchError(failure.message));
    return new Promise((resolve, reject) => {
      const job: Job = { criteria, range, requester, pieces: [], resolve, reject };
      // A search that may start at once does not enter the queue: none of the waiting ones may start now.
      if (this.mayStart(requester.remoteHost)) this.start(job);
      else this.waiting.add(job)?.resolve({ kind: "busy" });
    });
  };

  async close(): Promise<void> {
    this.isClosed = true;
    this.abandonTimer?.cancel();
    await this.thread.close();
    this.failAll(new LogSearchError("the thread ended"));
  }

  /** A remote host without a running search may use the extra ones, so that it does not wait for long ones of others. */
  private mayStart(remoteHost: string): boolean {
    const { running } = this;
    if (running.size < MAX_RUNNING_SEARCHES) return true;
    if (running.size >= MAX_RUNNING_SEARCHES + MAX_EXTRA_SEARCHES) return false;
    for (const { requester } of running.values()) if (requester.remoteHost === remoteHost) return false;
    return true;
  }

  private start(job: Job): void {
    const { criteria, range } = job;
    this.thread.start();
    this.lastId++;
    this.running.set(this.lastId, job);
    this.send({ kind: "find", id: this.lastId, criteria, range });
    if (this.running.size === 1) this.thread.setBusy(true);
    this.superviseRequesters();
  }

  /** Starts waiting searches, as far as the limits allow. */
  private startWaiting(): void {
    const mayStart = ({ remoteHost }: Pick<Requester, "remoteHost">): boolean => this.mayStart(remoteHost);
    for (let job = this.waiting.take(mayStart); job !== undefined; job = this.waiting.take(mayStart))
      this.start(job);
    if (this.running.size === 0) this.thread.setBusy(false);
  }

  private send(command: LogSearchCommand): void {
    this.thread.post(command);
  }

  private receive(message: LogSearchMessage): void {
    if (message.kind === "invalidSegment") {
      this.parts.onInvalidSegment(message.segment);
      return;
    }
    const job = this.running.get(message.id);
    if (job === undefined) return;
    if (message.kind === "piece") {
      job.pieces.push(message.json);
      return;
    }
    this.running.delete(message.id);
    if (message.kind === "failed") job.reject(new LogSearchError(message.message));
    else if (message.kind === "found") job.resolve({ kind: "found", pieces: job.pieces });
    else job.resolve({ kind: "tooManyLogs" });
    this.startWaiting();
  }

  private superviseRequesters(): void {
    const { clock } = this.parts;
    this.abandonTimer ??= clock.at(clock.nowMs() + ABANDON_CHECK_MS, () => this.dropAbandoned());
  }

  private dropAbandoned(): void {
    this.abandonTimer = undefined;
    for (const [id, job] of this.running) {
      if (!job.requester.isAbandoned()) continue;
      this.send({ kind: "abandon", id });
      this.running.delete(id);
      job.resolve({ kind: "abandoned" });
    }
    for (const { resolve } of this.waiting.takeAbandoned()) resolve({ kind: "abandoned" });
    this.startWaiting();
    if (this.running.size > 0) this.superviseRequesters();
  }

  private failAll(failure: LogSearchError): void {
    const jobs = [...this.running.values(), ...this.waiting.takeAll()];
    this.running.clear();
    for (const { reject } of jobs) reject(failure);
  }
}
