import { Worker } from "node:worker_threads";
import type { Logger } from "../../observability/logger.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { terminateWorker } from "../../primitives/workerTermination.ts";
import { workerEntry } from "../../workers/workerEntry.ts";
import { REMEDY } from "../checksum.ts";
import { DamagedData } from "../database.ts";
import type { ScrubberWorkerData, ScrubReport } from "./scrubberWorker.ts";

export interface ScrubberSettings {
  /** Folder of the database, which this thread has open. */
  readonly path: string;
  /** From the end of one round to the start of the next; the first one starts after at most FIRST_ROUND_MS. */
  readonly pauseMs: number;
}

export interface ScrubberParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called at most once. */
  onDamage(damage: DamagedData): void;
}

/**
 * Verifies the whole database again and again while the node runs, slowly and on a thread of its own, because a start
 * verifies the newest part only and LevelDB reads its tables unchecked: where a key or a filter is damaged, an existing
 * entry is simply not found. Close it before the database.
 */
export interface Scrubber {
  close(): Promise<void>;
}

export function startScrubber({ path, pauseMs }: ScrubberSettings, parts: ScrubberParts): Scrubber {
  const { clock, logger, onDamage } = parts;
  const data: ScrubberWorkerData = { path, ...RATE_LIMITS };
  let worker: Worker | undefined;
  let timer: Timer | undefined = clock.at(clock.nowMs() + Math.min(pauseMs, FIRST_ROUND_MS), begin);
  let isClosed = false;

  function begin(): void {
    let report: ScrubReport | undefined;
    worker = new Worker(workerEntry("scrubberWorker"), {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
    });
    worker.on("message", (message: ScrubReport) => {
      report = message;
    });
    worker.on("error", (error) => {
      report = { kind: "failed", message: messageOf(error) };
    });
    worker.on("exit", () => {
      worker = undefined;
      if (!isClosed) end(report ?? { kind: "failed", message: "the thread ended" });
    });
    worker.unref();
  }

  function end(report: ScrubReport): void {
    if (report.kind === "damaged") {
      const { message } = report;
      onDamage(
        new DamagedData(
          message.includes(REMEDY) ? message : `The database is damaged: ${message}. ${REMEDY}`,
        ),
      );
      return;
    }
    if (report.kind === "sound") {
      const { kind: _, ...facts } = report;
      logger.info(facts, "the whole database was verified and is sound");
    } else {
      logger.warn(
        { reason: report.message },
        "the database could not be verified; the scrubber tries again later",
      );
    }
    timer = clock.at(clock.nowMs() + pauseMs, begin);
  }

  return {
    async close() {
      isClosed = true;
      timer?.cancel();
      if (worker !== undefined) await terminateWorker(worker);
    },
  };
}

/** A few percent of one core and of any disk: 64 GB of tables take an hour, a hundred million entries six hours. */
const RATE_LIMITS = { bytesPerSecond: 16 * 1024 * 1024, entriesPerSecond: 5000 };
/** Leaves the first seconds to the rest of the start. */
const FIRST_ROUND_MS = 10_000;
/** One table of 8 MB, and a block's entries. */
const THREAD_MEMORY_MB = 128;
