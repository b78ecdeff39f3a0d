import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Chain } from "../chain/createChain.ts";
import type { BlockTiming } from "../chain/timeBudget.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { crc32c } from "../storage/crc32c.ts";

/** In the data folder. It may be lost: the figures are measured again then. */
const FILE = "block-timing.json";
/** Much more than what is written. */
const LONGEST_TEXT = 1_000;

/** Undefined where there is none, or it is damaged. */
export function readBlockTiming(folder: string): BlockTiming | undefined {
  try {
    const text = readFileSync(join(folder, FILE), "utf8");
    if (text.length > LONGEST_TEXT) return undefined;
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

/** Keeps what the chain learns of its blocks' timing from one run to the next. */
export interface BlockTimingKeeper {
  /** Once the node answers: measures, in the background, what no earlier run has learnt. */
  begin(): void;
  /** While the database is open still. */
  close(): Promise<void>;
}

export interface BlockTimingParts {
  readonly chain: Chain;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Those that build no blocks need no figures. */
  readonly isValidator: () => boolean;
}

/** A node that has just started has callers and peers to answer first; one that stops at once needs no figures. */
const BEGIN_AFTER_MS = 3_000;

export function keepBlockTiming(
  folder: string,
  { chain, clock, logger, isValidator }: BlockTimingParts,
): BlockTimingKeeper {
  const known = readBlockTiming(folder);
  if (known !== undefined) chain.restoreBlockTiming(known);
  const controller = new AbortController();
  let calibrating: Promise<void> = Promise.resolve();
  let timer: Timer | undefined;

  async function calibrate(): Promise<void> {
    try {
      await chain.calibrate(controller.signal);
    } catch (error) {
      logger.warn({ error }, "what finishing a block takes could not be measured");
    }
  }

  return {
    begin() {
      timer = clock.at(clock.nowMs() + BEGIN_AFTER_MS, () => {
        if (isValidator()) calibrating = calibrate();
      });
    },
    async close() {
      timer?.cancel();
      controller.abort();
      await calibrating;
      const timing = chain.blockTiming;
      try {
        if (timing !== undefined) writeBlockTiming(folder, timing);
      } catch (error) {
        logger.debug({ error }, "what finishing a block takes is not kept for the next run");
      }
    },
  };
}
