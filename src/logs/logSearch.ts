import { Worker } from "node:worker_threads";
import type { Clock, Timer } from "../primitives/clock.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import type { JsonPiece } from "../primitives/jsonPieces.ts";
import type { Requester } from "../primitives/requester.ts";
import { terminateWorker } from "../primitives/workerTermination.ts";
import { FairQueue } from "../workers/fairQueue.ts";
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
  const { clock } = parts;
  const running = new Map<number, Job>();
  const waiting = new FairQueue<Job>(MAX_WAITING_SEARCHES);
  let worker: Worker | undefined;
  let abandonTimer: Timer | undefined;
  let lastId = 0;
  let isClosed = false;

  function startWorker(): Worker {
    const { databasePath, bloomFolder } = parts;
    const workerData: LogSearchWorkerData = { databasePath, bloomFolder };
    const started = new Worker(workerEntry("logSearchWorker"), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
    });
    let reason = "the thread ended";
    started.on("message", receive);
    started.on("error", (error) => {
      reason = messageOf(error);
    });
    started.on("exit", () => {
      worker = undefined;
      failAll(new LogSearchError(reason));
    });
    return started;
  }

  /** Starts waiting searches, as far as the limits allow. */
  function startWaiting(): void {
    for (let job = waiting.take(mayStart); job !== undefined; job = waiting.take(mayStart)) start(job);
    superviseWorker();
  }

  /** A remote host without a running search may use the extra ones, so that it does not wait for long ones of others. */
  function mayStart(remoteHost: string): boolean {
    if (running.size < MAX_RUNNING_SEARCHES) return true;
    if (running.size >= MAX_RUNNING_SEARCHES + MAX_EXTRA_SEARCHES) return false;
    for (const { requester } of running.values()) if (requester.remoteHost === remoteHost) return false;
    return true;
  }

  function start(job: Job): void {
    worker ??= startWorker();
    lastId++;
    running.set(lastId, job);
    send({ kind: "find", id: lastId, criteria: job.criteria, range: job.range });
  }

  function superviseWorker(): void {
    // An idle worker does not keep the process alive; a busy one does.
    if (running.size > 0) worker?.ref();
    else worker?.unref();
    if (running.size > 0) abandonTimer ??= clock.at(clock.nowMs() + ABANDON_CHECK_MS, dropAbandoned);
  }

  function send(command: LogSearchCommand): void {
    worker?.postMessage(command);
  }

  function receive(message: LogSearchMessage): void {
    if (message.kind === "invalidSegment") {
      parts.onInvalidSegment(message.segment);
      return;
    }
    const job = running.get(message.id);
    if (job === undefined) return;
    if (message.kind === "piece") {
      job.pieces.push(message.json);
      return;
    }
    running.delete(message.id);
    if (message.kind === "failed") job.reject(new LogSearchError(message.message));
    else if (message.kind === "found") job.resolve({ kind: "found", pieces: job.pieces });
    else job.resolve({ kind: "tooManyLogs" });
    startWaiting();
  }

  function dropAbandoned(): void {
    abandonTimer = undefined;
    for (const [id, job] of running) {
      if (!job.requester.isAbandoned()) continue;
      send({ kind: "abandon", id });
      running.delete(id);
      job.resolve({ kind: "abandoned" });
    }
    for (const { resolve } of waiting.takeAbandoned()) resolve({ kind: "abandoned" });
    startWaiting();
  }

  function failAll(failure: LogSearchError): void {
    const jobs = [...running.values(), ...waiting.takeAll()];
    running.clear();
    for (const { reject } of jobs) reject(failure);
  }

  return {
    find(criteria, range, requester) {
      if (isClosed) return Promise.reject(new LogSearchError("the search is closed"));
      return new Promise((resolve, reject) => {
        const job = { criteria, range, requester, pieces: [], resolve, reject };
        // A search that may start at once does not enter the queue: none of the waiting ones may start now.
        if (mayStart(requester.remoteHost)) start(job);
        else waiting.add(job)?.resolve({ kind: "busy" });
        superviseWorker();
      });
    },
    async close() {
      isClosed = true;
      abandonTimer?.cancel();
      if (worker !== undefined) await terminateWorker(worker);
    },
  };
}

/** Interval at which abandoned searches are dropped. */
const ABANDON_CHECK_MS = 250;
/** Holds what running searches have found so far, and one large answer. */
const THREAD_MEMORY_MB = 512;
