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
  /** Holds block production back. */
  readonly hold: { pause(reason: "diskAlmostFull"): void; resume(reason: "diskAlmostFull"): void };
  /** Bytes that this user may still write; undefined when the system does not say. */
  readonly freeBytes?: (path: string) => Promise<number | undefined>;
}

/**
 * Pauses block production while there is still room to finish every write in progress, instead of failing once the disk is
 * full. The node still answers reads, and production resumes by itself when there is room again.
 */
export class DiskGuard {
  private readonly settings: DiskGuardSettings;
  private readonly parts: DiskGuardParts;
  private readonly freeBytes: (path: string) => Promise<number | undefined>;
  private state: "ample" | "scarce" | "paused" = "ample";
  private quietUntilMs = 0;
  private hasReportedMargin = false;
  private timer: Timer | undefined;
  private isStopped = false;

  constructor(settings: DiskGuardSettings, parts: DiskGuardParts) {
    this.settings = settings;
    this.parts = parts;
    this.freeBytes = parts.freeBytes ?? freeBytesOf;
  }

  /** Free bytes at which paused production resumes; undefined while it is not paused by the disk. */
  get pauseEndsAtBytes(): number | undefined {
    return this.state === "paused" ? this.resumeBytes : undefined;
  }

  /** Free bytes at which production that the disk has paused would resume. */
  get resumeBytes(): number {
    return resumeBytes(this.settings.reserveBytes);
  }

  /** Checks the disk now, and then every few seconds until stopped. */
  async start(): Promise<void> {
    if (this.settings.reserveBytes > 0) await this.check();
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  private applyLimits(free: number): void {
    const { path, reserveBytes } = this.settings;
    const { clock, logger } = this.parts;
    const fields = { path, freeMB: megabytes(free), reserveMB: megabytes(reserveBytes) };
    const resumeMB = Math.ceil(resumeBytes(reserveBytes) / 1024 ** 2);
    if (free < reserveBytes) {
      if (this.state !== "paused") this.parts.hold.pause("diskAlmostFull");
      else if (clock.nowMs() < this.quietUntilMs) return;
      this.state = "paused";
      this.quietUntilMs = clock.nowMs() + REPEAT_MS;
      this.hasReportedMargin = false;
      logger.error(
        fields,
        `the disk is almost full: ${fields.freeMB} MB free in ${path}, less than --min-free-disk-mb=${fields.reserveMB}. ` +
          `No blocks are made until ${resumeMB} MB are free; requests are answered. Make room or enlarge the disk`,
      );
    } else if (this.state === "paused" && free < resumeBytes(reserveBytes)) {
      // The margin is hysteresis: a disk near the limit must not start and stop production every few seconds.
      if (this.hasReportedMargin) return;
      this.hasReportedMargin = true;
      logger.warn(
        { ...fields, resumeMB },
        `there is more room on the disk, but still too little: ${fields.freeMB} MB free in ${path}. Blocks are made again once ` +
          `${resumeMB} MB are free, a quarter more than --min-free-disk-mb=${fields.reserveMB}`,
      );
    } else {
      if (this.state === "paused") {
        this.parts.hold.resume("diskAlmostFull");
        logger.info(fields, "there is room on the disk again: blocks are made again");
      }
      const isScarce = free < reserveBytes * WARNING_FACTOR;
      if (isScarce && this.state === "ample")
        logger.warn(
          fields,
          `the disk is filling up: ${fields.freeMB} MB free in ${path}; below ${fields.reserveMB} MB no blocks are made`,
        );
      this.state = isScarce ? "scarce" : "ample";
    }
  }

  private async check(): Promise<void> {
    const free = await this.freeBytes(this.settings.path);
    if (this.isStopped) return;
    if (free !== undefined) this.applyLimits(free);
    this.timer = this.parts.clock.at(this.parts.clock.nowMs() + CHECK_INTERVAL_MS, () => void this.check());
  }
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
