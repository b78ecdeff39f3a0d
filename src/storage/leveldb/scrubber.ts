import type { Logger } from "../../observability/logger.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { workerEntry } from "../../workers/workerEntry.ts";
import { startWorkerThread, type WorkerThread } from "../../workers/workerThread.ts";
import { REMEDY } from "../checksum.ts";
import { DamagedData } from "../database.ts";
import type { ScrubberWorkerData, ScrubReport } from "./scrubberWorker.ts";

interface ScrubberSettings {
  /** Folder of the database, which this thread has open. */
  readonly path: string;
  /** Pause from the end of one round to the start of the next; the first one starts after at most FIRST_ROUND_MS. */
  readonly pauseMs: number;
}

interface ScrubberParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called at most once. */
  readonly onDamage: (damage: DamagedData) => void;
}

/**
 * Verifies the whole database again and again while the node runs, slowly and on a thread of its own, because a start
 * verifies only the newest part and LevelDB reads its tables unchecked: when a key or a filter is damaged, an existing entry
 * is simply not found. Close it before the database.
 */
export class Scrubber {
  private readonly settings: ScrubberSettings;
  private readonly parts: ScrubberParts;
  private thread: WorkerThread | undefined;
  private timer: Timer;

  constructor(settings: ScrubberSettings, parts: ScrubberParts) {
    this.settings = settings;
    this.parts = parts;
    this.timer = this.roundAfter(Math.min(settings.pauseMs, FIRST_ROUND_MS));
  }

  async close(): Promise<void> {
    this.timer.cancel();
    await this.thread?.terminate();
  }

  private roundAfter(delayMs: number): Timer {
    const { clock } = this.parts;
    return clock.at(clock.nowMs() + delayMs, () => this.begin());
  }

  private begin(): void {
    let report: ScrubReport | undefined;
    const workerData: ScrubberWorkerData = { path: this.settings.path, ...RATE_LIMITS };
    this.thread = startWorkerThread<ScrubReport>(
      { entry: workerEntry("scrubberWorker"), workerData, heapMb: THREAD_MEMORY_MB },
      {
        receive(message) {
          report = message;
        },
        ended: (error) => {
          this.thread = undefined;
          this.end(report ?? error);
        },
      },
    );
    this.thread.keepProcessAlive(false);
  }

  private end(report: ScrubReport | Error): void {
    const { logger, onDamage } = this.parts;
    if (report instanceof Error) {
      logger.warn(
        { reason: report.message },
        "the database could not be verified; the scrubber tries again later",
      );
    } else if (report.kind === "damaged") {
      onDamage(damageOf(report.message));
      return;
    } else {
      const { kind: _, ...fields } = report;
      logger.info(fields, "the whole database was verified and is sound");
    }
    this.timer = this.roundAfter(this.settings.pauseMs);
  }
}

function damageOf(message: string): DamagedData {
  return new DamagedData(
    message.includes(REMEDY) ? message : `The database is damaged: ${message}. ${REMEDY}`,
  );
}

/**
 * Rates that take a few percent of one core and of any disk: 64 GB of tables take an hour, a hundred million entries six
 * hours.
 */
const RATE_LIMITS = { bytesPerSecond: 16 * 1024 * 1024, entriesPerSecond: 5000 };
/** Delay of the first round, which leaves the first seconds to the rest of the start. */
const FIRST_ROUND_MS = 10_000;
/** Memory for one table, of 32 MB at most, and the entries of a block. */
const THREAD_MEMORY_MB = 128;
