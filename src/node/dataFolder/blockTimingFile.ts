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

interface BlockTimingParts {
  readonly chain: Chain;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether this node is a validator: no other needs the figures. */
  readonly isValidator: () => boolean;
}

/** Right after the start callers and peers come first, and a node that stops at once needs no figures. */
const BEGIN_AFTER_MS = 3_000;

/** Keeps the chain's measured block timing over restarts. */
export class BlockTimingStore {
  private readonly folder: string;
  private readonly parts: BlockTimingParts;
  private readonly controller = new AbortController();
  private calibration: Promise<void> = Promise.resolve();
  private isMeasuring = false;
  private timer: Timer | undefined;

  constructor(folder: string, parts: BlockTimingParts) {
    this.folder = folder;
    this.parts = parts;
    const known = readBlockTiming(folder);
    if (known !== undefined) parts.chain.restoreBlockTiming(known);
  }

  /**
   * Starts the calibration in the background; called once the servers are open. Another one follows once the code is compiled, if it
   * is (warmup/warmUp.ts).
   */
  begin(compiled: Promise<boolean>): void {
    const { clock, isValidator } = this.parts;
    this.timer = clock.at(clock.nowMs() + BEGIN_AFTER_MS, () => {
      if (isValidator()) this.calibration = this.calibrateTwice(compiled);
    });
  }

  /** Whether it measures at the moment, so that other work would falsify it. */
  get isCalibrating(): boolean {
    return this.isMeasuring;
  }

  /** Must be called before the database closes. */
  async close(): Promise<void> {
    const { chain, logger } = this.parts;
    this.timer?.cancel();
    this.controller.abort();
    await this.calibration;
    const timing = chain.blockTiming;
    try {
      if (timing !== undefined) writeBlockTiming(this.folder, timing);
    } catch (error) {
      logger.debug({ error }, "the time to finish a block could not be saved for the next run");
    }
  }

  private async calibrateTwice(compiled: Promise<boolean>): Promise<void> {
    await this.calibrate();
    if (await compiled) await this.calibrate();
  }

  private async calibrate(): Promise<void> {
    const { chain, logger } = this.parts;
    this.isMeasuring = true;
    try {
      await chain.calibrate(this.controller.signal);
    } catch (error) {
      logger.warn({ error }, "the time to finish a block could not be measured");
    } finally {
      this.isMeasuring = false;
    }
  }
}
