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
  /** Folder of the database, which this thread has open. */
  readonly databasePath: string;
  /** Folder of the files of blooms; made when there is something to put into it. */
  readonly folder: string;
  /** --auto-log-bloom-caching-enabled: whether files are written without being asked for. */
  readonly isAutomatic: boolean;
  /** How long after the start the first file may be written, so that the start itself has the machine. */
  readonly delayMs: number;
}

export interface LogIndexParts {
  readonly chain: Pick<ChainReader, "head" | "onHeadChanged">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Keeps the files of blooms (storage/blooms/bloomFiles.ts) that make old logs quick to find. They are written by a thread that
 * begins when there is something to write and ends after it:
 *
 *     start, or a thousand blocks more ──> complete what is missing
 *     a request, or a file that a search found unsound ──> write these segments anew
 *
 * One task is under way at a time. What an operator asks for meanwhile is not accepted, what the node itself wants waits.
 */
export interface LogIndex {
  readonly status: LogIndexStatus;
  /** Writes the files of the segments from that of block `from` up to block `to`. False when the thread is at work. */
  generate(from: bigint, to: bigint): boolean;
  /** Removes the files with blocks `from` to `to`, and ends what is being written. */
  remove(from: bigint, to: bigint): Promise<void>;
  /** Writes anew the files of all segments before that of block `before`. False when the thread is at work. */
  repair(before: bigint): boolean;
  /** A search found that the file of a segment cannot be believed. */
  distrust(segment: number): void;
  close(): Promise<void>;
}

/** Numbers of blocks. */
export interface LogIndexStatus {
  /** What was asked for last. */
  readonly from: bigint;
  readonly to: bigint;
  /** The newest block that was written since the start. */
  readonly current: bigint;
  readonly isIndexing: boolean;
}

export function createLogIndex(settings: LogIndexSettings, parts: LogIndexParts): LogIndex {
  const { databasePath, folder, isAutomatic, delayMs } = settings;
  const { chain, clock, logger } = parts;
  let asked = { from: 0n, to: 0n };
  let current = 0n;
  let worker: Worker | undefined;
  let underWay: LogIndexTask | undefined;
  /** At the start, and after a failure until there is something new to write: a disk that refuses is not asked always. */
  let isResting = true;
  let isClosed = false;
  /** Tasks that wait for the one under way: by segment, so that there are no more than files. */
  const unsound = new Set<number>();
  let isBehind = isAutomatic;
  /** Segments up to this one have their files, or an operator took them away. */
  let completed = -1;

  const segmentOf = (block: bigint): number => Number(block / BigInt(SEGMENT_BLOCKS));
  const headSegment = (): number => segmentOf(chain.head.header.number);

  function begin(task: LogIndexTask): void {
    const data: LogIndexWorkerData = { databasePath, folder, task, restRatio: REST_RATIO };
    const own = new Worker(workerEntry(import.meta.url, "logIndexWorker"), {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
    });
    let report: LogIndexReport | undefined;
    own.on("message", (message: LogIndexReport) => {
      if (message.kind === "progress") current = message.block;
      else report = message;
    });
    own.on("error", (error) => {
      report = { kind: "failed", message: messageOf(error) };
    });
    own.on("exit", () => {
      if (worker !== own) return;
      worker = undefined;
      if (report?.kind === "done") {
        ended(task, report.written);
      } else {
        isResting = true;
        logger.warn(reasonOf(report), "the index of logs could not be written; headers are searched instead");
      }
    });
    own.unref();
    worker = own;
    underWay = task;
  }

  function ended({ last }: LogIndexTask, written: number): void {
    completed = Math.max(completed, Math.min(last, headSegment()) - 1);
    logger.debug({ files: written, block: current }, "the index of logs was written");
    goOn();
  }

  /** Whether a thousand blocks are there that may be in no file. */
  function hasMore(): boolean {
    return chain.head.header.number + 1n >= BigInt((completed + 1) * SEGMENT_BLOCKS + CHUNK_BLOCKS);
  }

  /** What the node itself wants, the most urgent first. */
  function goOn(): void {
    if (isClosed || isResting || worker !== undefined) return;
    const [segment] = unsound;
    if (segment !== undefined) {
      unsound.delete(segment);
      begin({ first: segment, last: segment, isRewrite: true });
    } else if (isBehind && hasMore()) {
      isBehind = false;
      begin({ first: completed + 1, last: Number.MAX_SAFE_INTEGER, isRewrite: false });
    }
  }

  const stopListening = chain.onHeadChanged(({ head, added, removed }) => {
    if (removed.length > 0) completed = Math.min(completed, headSegment() - 1);
    const isChunkFull = added.length > 0 && (head.header.number + 1n) % BigInt(CHUNK_BLOCKS) === 0n;
    if (!isAutomatic || !(isChunkFull || removed.length > 0)) return;
    isBehind = true;
    isResting = false;
    goOn();
  });
  const start = clock.at(clock.nowMs() + delayMs, () => {
    isResting = false;
    goOn();
  });

  return {
    get status() {
      return { ...asked, current, isIndexing: worker !== undefined };
    },
    generate(from, to) {
      if (worker !== undefined || from >= to) return false;
      asked = { from, to };
      begin({ first: segmentOf(from), last: segmentOf(to - 1n), isRewrite: true });
      return true;
    },
    async remove(from, to) {
      const stopped = worker;
      worker = undefined;
      if (stopped !== undefined) await terminateWorker(stopped);
      removeSegments(folder, segmentOf(from), segmentOf(to));
    },
    repair(before) {
      if (worker !== undefined) return false;
      const last = segmentOf(before) - 1;
      if (last >= 0) begin({ first: 0, last, isRewrite: true });
      return true;
    },
    distrust(segment) {
      const isBeingWritten = worker !== undefined && underWay !== undefined && isRewriting(underWay, segment);
      if (isBeingWritten || unsound.has(segment)) return;
      logger.warn({ segment }, "a file of the index of logs is not sound; it is written anew");
      unsound.add(segment);
      goOn();
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

/** A third of one core at most: whoever waits for logs is served from the headers meanwhile. */
const REST_RATIO = 2;
const THREAD_MEMORY_MB = 128;
