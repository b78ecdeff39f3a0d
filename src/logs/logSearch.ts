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
import type { LogSearchNews, LogSearchOrder, LogSearchWorkerData } from "./logSearchWorker.ts";

/**
 * Searches for logs in ranges of many blocks, on a thread that reads the database itself and makes the JSON, too
 * (architecture.md#threads): this thread only passes the text on. The thread starts with the first search.
 *
 * Invariants: each search is answered exactly once, whatever happens to the thread; those that wait are begun by machine
 * and client in turn, and when too many do, whoever has most of them loses the newest as busy.
 */
export interface LogSearch {
  readonly find: FindLogs;
  close(): Promise<void>;
}

export interface LogSearchParts {
  /** Folder of the database, which this thread has open. */
  readonly databasePath: string;
  /** Folder of the files of blooms. */
  readonly bloomFolder: string;
  readonly clock: Clock;
  /** The file of a segment cannot be believed. */
  onUnsound(segment: number): void;
}

/** Searches that may be under way, as many again of machines that have none else, and those that may wait for them. */
export const SEARCHES_UNDER_WAY = 32;
const SEARCHES_OF_NEWCOMERS = 32;
export const SEARCHES_WAITING = 1_000;

interface Job {
  readonly criteria: LogCriteria;
  readonly range: BlockRange;
  readonly requester: Requester;
  readonly pieces: JsonPiece[];
  resolve(found: FoundLogs): void;
  reject(error: Error): void;
}

/** The thread lost a search: no result of it. */
class LogSearchError extends Error {
  override name = "LogSearchFailure";
}

export function createLogSearch(parts: LogSearchParts): LogSearch {
  const { clock } = parts;
  const underWay = new Map<number, Job>();
  const waiting = new FairQueue<Job>(SEARCHES_WAITING);
  let worker: Worker | undefined;
  let watch: Timer | undefined;
  let lastId = 0;
  let isClosed = false;

  function startWorker(): Worker {
    const { databasePath, bloomFolder } = parts;
    const data: LogSearchWorkerData = { databasePath, bloomFolder };
    const started = new Worker(workerEntry(import.meta.url, "logSearchWorker"), {
      workerData: data,
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

  /** Begins those that wait, as far as there are places. */
  function begin(): void {
    for (let job = waiting.take(hasPlaceFor); job !== undefined; job = waiting.take(hasPlaceFor)) start(job);
    tendThread();
  }

  /** A machine that has none under way does not wait for the long searches of those who have, while there are places. */
  function hasPlaceFor(remoteHost: string): boolean {
    if (underWay.size < SEARCHES_UNDER_WAY) return true;
    if (underWay.size >= SEARCHES_UNDER_WAY + SEARCHES_OF_NEWCOMERS) return false;
    for (const { requester } of underWay.values()) if (requester.remoteHost === remoteHost) return false;
    return true;
  }

  function start(job: Job): void {
    worker ??= startWorker();
    lastId++;
    underWay.set(lastId, job);
    order({ kind: "find", id: lastId, criteria: job.criteria, range: job.range });
  }

  function tendThread(): void {
    // An idle thread does not keep the process alive; one at work does.
    if (underWay.size > 0) worker?.ref();
    else worker?.unref();
    if (underWay.size > 0) watch ??= clock.at(clock.nowMs() + WATCH_MS, dropAbandoned);
  }

  function order(message: LogSearchOrder): void {
    worker?.postMessage(message);
  }

  function receive(news: LogSearchNews): void {
    if (news.kind === "unsound") {
      parts.onUnsound(news.segment);
      return;
    }
    const job = underWay.get(news.id);
    if (job === undefined) return;
    if (news.kind === "piece") {
      job.pieces.push(news.json);
      return;
    }
    underWay.delete(news.id);
    if (news.kind === "failed") job.reject(new LogSearchError(news.message));
    else if (news.kind === "found") job.resolve({ kind: "found", pieces: job.pieces });
    else job.resolve({ kind: "tooManyLogs" });
    begin();
  }

  function dropAbandoned(): void {
    watch = undefined;
    for (const [id, job] of underWay) {
      if (!job.requester.isAbandoned()) continue;
      order({ kind: "abandon", id });
      underWay.delete(id);
      job.resolve({ kind: "abandoned" });
    }
    for (const { resolve } of waiting.takeAbandoned()) resolve({ kind: "abandoned" });
    begin();
  }

  function failAll(failure: LogSearchError): void {
    const jobs = [...underWay.values(), ...waiting.takeAll()];
    underWay.clear();
    for (const { reject } of jobs) reject(failure);
  }

  return {
    find(criteria, range, requester) {
      if (isClosed) return Promise.reject(new LogSearchError("the search is closed"));
      return new Promise((resolve, reject) => {
        const job = { criteria, range, requester: requester, pieces: [], resolve, reject };
        // Whoever need not wait takes no place among those who must: of these none could begin now.
        if (hasPlaceFor(requester.remoteHost)) start(job);
        else waiting.add(job)?.resolve({ kind: "busy" });
        tendThread();
      });
    },
    async close() {
      isClosed = true;
      watch?.cancel();
      if (worker !== undefined) await terminateWorker(worker);
    },
  };
}

const WATCH_MS = 250;
/** What searches have found so far, and one large answer. */
const THREAD_MEMORY_MB = 512;
