import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Chain } from "../../chain/createChain.ts";
import type { BlockTiming } from "../../chain/timing/timingFilter.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { crc32c } from "../../storage/crc32c.ts";

/** Name of the file in the data folder. If it is lost, the figures are measured again. */
const FILE = "block-timing.json";
/** Largest file that is read, far above the size that is written. */
const MAX_FILE_CHARACTERS = 1_000;

/** Undefined when the file is absent or damaged. */
export function readBlockTiming(folder: string): BlockTiming | undefined {
  try {
    const text = readFileSync(join(folder, FILE), "utf8");
    if (text.length > MAX_FILE_CHARACTERS) return undefined;
    const { fixedMs, eachMs, checksum } = JSON.parse(text) as Record<string, unknown>;
    if (typeof fixedMs !== "number" || typeof eachMs !== "number") return undefined;
    return checksum === checksumOf({ fixedMs, eachMs }) ? { fixedMs, eachMs } : undefined;
  } catch {
    return undefined;
  }
}

export function writeBlockTiming(folder: string, timing: BlockTiming): void {
  const { fixedMs, eachMs } = timing;
  writeFileSync(join(folder, FILE), `${JSON.stringify({ fixedMs, eachMs, checksum: checksumOf(timing) })}\n`);
}

function checksumOf({ fixedMs, eachMs }: BlockTiming): number {
  return crc32c(Buffer.from(`${fixedMs} ${eachMs}`));
}

/** Keeps the chain's measured block timing over restarts. */
export interface BlockTimingStore {
  /**
   * Starts the calibration in the background; called once the servers are open. Another one follows once the code is compiled, if it
   * is (warmup/warmUp.ts).
   */
  begin(compiled: Promise<boolean>): void;
  /** Whether it measures at the moment, so that other work would falsify it. */
  readonly isCalibrating: boolean;
  /** Must be called before the database closes. */
  close(): Promise<void>;
}

interface BlockTimingParts {
  readonly chain: Chain;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Only validators need the figures. */
  readonly isValidator: () => boolean;
}

/** Right after the start callers and peers come first, and a node that stops at once needs no figures. */
const BEGIN_AFTER_MS = 3_000;

export function keepBlockTiming(
  folder: string,
  { chain, clock, logger, isValidator }: BlockTimingParts,
): BlockTimingStore {
  const known = readBlockTiming(folder);
  if (known !== undefined) chain.restoreBlockTiming(known);
  const controller = new AbortController();
  let calibrating: Promise<void> = Promise.resolve();
  let isCalibrating = false;
  let timer: Timer | undefined;

  async function calibrateTwice(compiled: Promise<boolean>): Promise<void> {
    await calibrate();
    if (await compiled) await calibrate();
  }

  async function calibrate(): Promise<void> {
    isCalibrating = true;
    try {
      await chain.calibrate(controller.signal);
    } catch (error) {
      logger.warn({ error }, "the time to finish a block could not be measured");
    } finally {
      isCalibrating = false;
    }
  }

  return {
    begin(compiled) {
      timer = clock.at(clock.nowMs() + BEGIN_AFTER_MS, () => {
        if (isValidator()) calibrating = calibrateTwice(compiled);
      });
    },
    get isCalibrating() {
      return isCalibrating;
    },
    async close() {
      timer?.cancel();
      controller.abort();
      await calibrating;
      const timing = chain.blockTiming;
      try {
        if (timing !== undefined) writeBlockTiming(folder, timing);
      } catch (error) {
        logger.debug({ error }, "the time to finish a block could not be saved for the next run");
      }
    },
  };
}
