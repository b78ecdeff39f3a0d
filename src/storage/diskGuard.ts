import { statfs } from "node:fs/promises";
import type { Logger } from "../observability/logger.ts";
import type { Clock, Timer } from "../primitives/clock.ts";

interface DiskGuardSettings {
  /** Folder on the disk to watch. */
  readonly path: string;
  /** Free space below which block production pauses; 0 turns the guard off. */
  readonly reserveBytes: number;
}

interface DiskGuardParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Stops block production. */
  pause(): void;
  /** Resumes block production. */
  resume(): void;
  /** Bytes that this user may still write; undefined when the system does not say. */
  readonly freeBytes?: (path: string) => Promise<number | undefined>;
}

export interface DiskGuard {
  /** Checks the disk now, and then every few seconds until stopped. */
  start(): Promise<void>;
  stop(): void;
}

/**
 * Pauses block production while there is still room to finish every write in progress, instead of failing once the disk is
 * full. The node still answers reads, and production resumes by itself when there is room again.
 */
export function createDiskGuard({ path, reserveBytes }: DiskGuardSettings, parts: DiskGuardParts): DiskGuard {
  const { clock, logger, freeBytes = freeBytesOf } = parts;
  let state: "ample" | "scarce" | "paused" = "ample";
  let quietUntilMs = 0;
  let hasReportedMargin = false;
  let timer: Timer | undefined;
  let isStopped = false;

  function applyLimits(free: number): void {
    const fields = { path, freeMB: megabytes(free), reserveMB: megabytes(reserveBytes) };
    const resumeMB = Math.ceil(resumeBytes(reserveBytes) / 1024 ** 2);
    if (free < reserveBytes) {
      if (state !== "paused") parts.pause();
      else if (clock.nowMs() < quietUntilMs) return;
      state = "paused";
      quietUntilMs = clock.nowMs() + REPEAT_MS;
      hasReportedMargin = false;
      logger.error(
        fields,
        `the disk is almost full: ${fields.freeMB} MB free in ${path}, less than --min-free-disk-mb=${fields.reserveMB}. ` +
          `No blocks are made until ${resumeMB} MB are free; requests are answered. Make room or enlarge the disk`,
      );
    } else if (state === "paused" && free < resumeBytes(reserveBytes)) {
      // The margin is hysteresis: a disk near the limit must not start and stop production every few seconds.
      if (hasReportedMargin) return;
      hasReportedMargin = true;
      logger.warn(
        { ...fields, resumeMB },
        `there is more room on the disk, but still too little: ${fields.freeMB} MB free in ${path}. Blocks are made again once ` +
          `${resumeMB} MB are free, a quarter more than --min-free-disk-mb=${fields.reserveMB}`,
      );
    } else {
      if (state === "paused") {
        parts.resume();
        logger.info(fields, "there is room on the disk again: blocks are made again");
      }
      const isScarce = free < reserveBytes * WARNING_FACTOR;
      if (isScarce && state === "ample")
        logger.warn(
          fields,
          `the disk is filling up: ${fields.freeMB} MB free in ${path}; below ${fields.reserveMB} MB no blocks are made`,
        );
      state = isScarce ? "scarce" : "ample";
    }
  }

  async function check(): Promise<void> {
    const free = await freeBytes(path);
    if (isStopped) return;
    if (free !== undefined) applyLimits(free);
    timer = clock.at(clock.nowMs() + CHECK_INTERVAL_MS, () => void check());
  }

  return {
    async start() {
      if (reserveBytes > 0) await check();
    },
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}

/** A block of 12,000 transfers takes 15 MB of disk, and there may be one each second. */
const CHECK_INTERVAL_MS = 2000;
const REPEAT_MS = 10 * 60_000;
/** Multiples of the reserve: production resumes at the first, and a warning is logged below the second. */
const RESUME_FACTOR = 1.25;
const WARNING_FACTOR = 4;

/** Free bytes at which paused production resumes. */
export function resumeBytes(reserveBytes: number): number {
  return reserveBytes * RESUME_FACTOR;
}

/** Bytes that this user may still write to the disk of the folder; undefined when the system does not say. */
export async function freeBytesOf(path: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / 1024 ** 2);
}
