import { statfs } from "node:fs/promises";
import type { Logger } from "../observability/logger.ts";
import type { Clock, Timer } from "../primitives/clock.ts";

export interface DiskGuardSettings {
  /** Folder on the disk in question. */
  readonly path: string;
  /** Free space below which no block is made; 0 for no guard. */
  readonly reserveBytes: number;
}

export interface DiskGuardParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Block production stands still, or goes on. */
  hold(): void;
  release(): void;
  /** Bytes that this user may still write; undefined when the system does not tell. */
  readonly freeBytes?: (path: string) => Promise<number | undefined>;
}

export interface DiskGuard {
  /** Looks at the disk, and then again every few seconds until stopped. */
  start(): Promise<void>;
  stop(): void;
}

/**
 * Stops block production while there is still room to end every write that has begun, instead of ending the node when
 * there is none. Reads are answered meanwhile; it goes on by itself when there is room again.
 */
export function createDiskGuard({ path, reserveBytes }: DiskGuardSettings, parts: DiskGuardParts): DiskGuard {
  const { clock, logger, freeBytes = freeBytesOf } = parts;
  let state: "ample" | "scarce" | "held" = "ample";
  let quietUntilMs = 0;
  let timer: Timer | undefined;
  let isStopped = false;

  function judge(free: number): void {
    const facts = { path, freeMB: megabytes(free), reserveMB: megabytes(reserveBytes) };
    if (free < reserveBytes) {
      if (state !== "held") parts.hold();
      else if (clock.nowMs() < quietUntilMs) return;
      state = "held";
      quietUntilMs = clock.nowMs() + REPEAT_MS;
      logger.error(
        facts,
        `the disk is almost full: ${facts.freeMB} MB free in ${path}, less than --min-free-disk-mb=${facts.reserveMB}. ` +
          "No blocks are made until there is room; requests are answered. Make room or enlarge the disk",
      );
    } else if (state === "held" && free < reserveBytes * ENOUGH_TO_GO_ON) {
      // Neither here nor there: a disk at the edge must not start and stop production every few seconds.
    } else {
      if (state === "held") {
        parts.release();
        logger.info(facts, "there is room on the disk again: blocks are made again");
      }
      const isScarce = free < reserveBytes * SCARCE;
      if (isScarce && state === "ample")
        logger.warn(
          facts,
          `the disk fills up: ${facts.freeMB} MB free in ${path}; below ${facts.reserveMB} MB no blocks are made`,
        );
      state = isScarce ? "scarce" : "ample";
    }
  }

  async function look(): Promise<void> {
    const free = await freeBytes(path);
    if (isStopped) return;
    if (free !== undefined) judge(free);
    timer = clock.at(clock.nowMs() + LOOK_EVERY_MS, () => void look());
  }

  return {
    async start() {
      if (reserveBytes > 0) await look();
    },
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}

/** A block of 12,000 transfers takes 15 MB of disk, and comes each second. */
const LOOK_EVERY_MS = 2000;
const REPEAT_MS = 10 * 60_000;
const ENOUGH_TO_GO_ON = 1.25;
const SCARCE = 4;

async function freeBytesOf(path: string): Promise<number | undefined> {
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
