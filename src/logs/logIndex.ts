import { Worker } from "node:worker_threads";
import type { ChainReader } from "../chain/chain.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { terminateWorker } from "../primitives/workerTermination.ts";
import { CHUNK_BLOCKS, removeSegments, SEGMENT_BLOCKS } from "../storage/blooms/bloomFiles.ts";
import { workerEntry } from "../workers/workerEntry.ts";
import type { LogIndexReport, LogIndexTask, LogIndexWorkerData } from "./logIndexWorker.ts";

export interface LogIndexSettings {
  /** Directory of the database, which this thread has open. */
  readonly databasePath: string;
  /** Directory of the bloom files; created with the first file. */
  readonly folder: string;
  /** --auto-log-bloom-caching-enabled: whether files are written without a request. */
  readonly isAutomatic: boolean;
  /** Delay of the first file after the start, so that writing it does not slow the start down. */
  readonly delayMs: number;
}

export interface LogIndexParts {
  readonly chain: Pick<ChainReader, "head" | "onHeadChanged">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Maintains the bloom files (storage/blooms/bloomFiles.ts), which speed up searches for old logs. A worker thread writes
 * them; it starts for each task and ends with it:
 *
 *     start, or a thousand more blocks ──> write the missing files
 *     a request, or a file that a search found invalid ──> rewrite these segments
 *
 * One task runs at a time. An operator's request is refused meanwhile, the node's own tasks wait.
 */
export interface LogIndex {
  readonly status: LogIndexStatus;
  /** Rewrites the files of the segments with blocks `from` to `to`. False while a task runs. */
  generate(from: bigint, to: bigint): boolean;
  /** Removes the files with blocks `from` to `to`, and ends the running task. */
  remove(from: bigint, to: bigint): Promise<void>;
  /** Rewrites the files of all segments before that of block `before`. False while a task runs. */
  repair(before: bigint): boolean;
  /** Called when a search finds the file of a segment invalid: the file is rewritten. */
  reportInvalid(segment: number): void;
  close(): Promise<void>;
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

export function createLogIndex(settings: LogIndexSettings, parts: LogIndexParts): LogIndex {
  const { databasePath, folder, isAutomatic, delayMs } = settings;
  const { chain, clock, logger } = parts;
  let requested = { from: 0n, to: 0n };
  let current = 0n;
  let worker: Worker | undefined;
  let runningTask: LogIndexTask | undefined;
  /** True until the start delay is over, and after a failure until there are new blocks to write, to spare a failing disk. */
  let isPaused = true;
  let isClosed = false;
  /** Segments to rewrite after the running task. */
  const invalidSegments = new Set<number>();
  let isBehind = isAutomatic;
  /** Segments up to this one have complete files, or an operator removed them. */
  let completed = -1;

  const segmentOf = (block: bigint): number => Number(block / BigInt(SEGMENT_BLOCKS));
  const headSegment = (): number => segmentOf(chain.head.header.number);

  function startTask(task: LogIndexTask): void {
    const data: LogIndexWorkerData = { databasePath, folder, task, pauseRatio: PAUSE_RATIO };
    const started = new Worker(workerEntry("logIndexWorker"), {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
    });
    let report: LogIndexReport | undefined;
    started.on("message", (message: LogIndexReport) => {
      if (message.kind === "progress") current = message.block;
      else report = message;
    });
    started.on("error", (error) => {
      report = { kind: "failed", message: messageOf(error) };
    });
    started.on("exit", () => {
      if (worker !== started) return;
      worker = undefined;
      if (report?.kind === "done") {
        onWritten(task, report.written);
      } else {
        isPaused = true;
        logger.warn(reasonOf(report), "the log index could not be written; headers are searched instead");
      }
    });
    started.unref();
    worker = started;
    runningTask = task;
  }

  function onWritten({ last }: LogIndexTask, written: number): void {
    completed = Math.max(completed, Math.min(last, headSegment()) - 1);
    logger.debug({ files: written, block: current }, "the log index was written");
    startNextTask();
  }

  /** Whether there are a thousand blocks that may be in no file. */
  function hasFullChunk(): boolean {
    return chain.head.header.number + 1n >= BigInt((completed + 1) * SEGMENT_BLOCKS + CHUNK_BLOCKS);
  }

  /** Starts the node's own next task, rewrites first. */
  function startNextTask(): void {
    if (isClosed || isPaused || worker !== undefined) return;
    const [segment] = invalidSegments;
    if (segment !== undefined) {
      invalidSegments.delete(segment);
      startTask({ first: segment, last: segment, isRewrite: true });
    } else if (isBehind && hasFullChunk()) {
      isBehind = false;
      startTask({ first: completed + 1, last: Number.MAX_SAFE_INTEGER, isRewrite: false });
    }
  }

  const stopListening = chain.onHeadChanged(({ head, added, removed }) => {
    if (removed.length > 0) completed = Math.min(completed, headSegment() - 1);
    const isChunkFull = added.length > 0 && (head.header.number + 1n) % BigInt(CHUNK_BLOCKS) === 0n;
    if (!isAutomatic || !(isChunkFull || removed.length > 0)) return;
    isBehind = true;
    isPaused = false;
    startNextTask();
  });
  const start = clock.at(clock.nowMs() + delayMs, () => {
    isPaused = false;
    startNextTask();
  });

  return {
    get status() {
      return { ...requested, current, isIndexing: worker !== undefined };
    },
    generate(from, to) {
      if (worker !== undefined || from >= to) return false;
      requested = { from, to };
      startTask({ first: segmentOf(from), last: segmentOf(to - 1n), isRewrite: true });
      return true;
    },
    async remove(from, to) {
      const ended = worker;
      worker = undefined;
      if (ended !== undefined) await terminateWorker(ended);
      removeSegments(folder, segmentOf(from), segmentOf(to));
    },
    repair(before) {
      if (worker !== undefined) return false;
      const last = segmentOf(before) - 1;
      if (last >= 0) startTask({ first: 0, last, isRewrite: true });
      return true;
    },
    reportInvalid(segment) {
      const isBeingWritten =
        worker !== undefined && runningTask !== undefined && isRewriting(runningTask, segment);
      if (isBeingWritten || invalidSegments.has(segment)) return;
      logger.warn({ segment }, "a file of the log index is invalid and is rewritten");
      invalidSegments.add(segment);
      startNextTask();
    },
    async close() {
      isClosed = true;
      start.cancel();
      stopListening();
      if (worker !== undefined) await terminateWorker(worker);
    },
  };
}

function isRewriting({ first, last, isRewrite }: LogIndexTask, segment: number): boolean {
  return isRewrite && segment >= first && segment <= last;
}

function reasonOf(report: LogIndexReport | undefined): { readonly reason: string } {
  return { reason: report?.kind === "failed" ? report.message : "the thread ended" };
}

/** Uses a third of one core at most: it is not urgent, as searches use the headers meanwhile. */
const PAUSE_RATIO = 2;
const THREAD_MEMORY_MB = 128;
