import type { Clock } from "../primitives/clock.ts";
import { ok, type Result } from "../primitives/result.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { NamedHeader } from "../types/block.ts";
import type { BlockMaker } from "./blockMaker.ts";
import type { ChainTime } from "./chainTime.ts";
import type { DevelopmentErrorCode, MineOrder } from "./orders.ts";

interface MiningParts {
  readonly time: ChainTime;
  readonly clock: Clock;
  readonly maker: BlockMaker;
  readonly pool: Pick<TxPool, "statistics">;
  /** Whether no further blocks are to be made. */
  isStopped(): boolean;
}

/** So few blocks are made one by one: a run opens stores of its own. */
const LEAST_RUN = 32;

/**
 * Makes the blocks of an order: those with what waits one by one, and long runs of others at less cost. Resolves to their number, which
 * is lower than that of the order only when it was stopped.
 */
export async function mineBlocks(
  { blocks, spacingSeconds }: Omit<MineOrder, "timestamp">,
  parts: MiningParts,
): Promise<Result<number, DevelopmentErrorCode>> {
  const { time, maker, pool } = parts;
  let made = 0;
  const isDone = () => made === blocks || parts.isStopped();
  const mineNext = async (
    { header }: NamedHeader,
    mine: (timestamp: bigint) => Promise<unknown>,
  ): Promise<Result<void, DevelopmentErrorCode>> => {
    if (made > 0 && spacingSeconds !== undefined) {
      const set = time.setNext(
        header.timestamp + (spacingSeconds > 0n ? spacingSeconds : 1n),
        header.timestamp,
      );
      if (!set.ok) return set;
    }
    await mineAt(parts, header.timestamp, mine);
    made++;
    return ok(undefined);
  };
  while (!isDone()) {
    if (blocks - made < LEAST_RUN || pool.statistics.pending > 0) {
      const mined = await mineNext(maker.head, (timestamp) => maker.mine(timestamp));
      if (!mined.ok) return mined;
      continue;
    }
    const run = await maker.beginRun();
    try {
      while (!isDone() && pool.statistics.pending === 0) {
        const mined = await mineNext(run.head, (timestamp) => run.mine(timestamp));
        if (!mined.ok) return mined;
      }
    } finally {
      await run.close();
    }
  }
  return ok(made);
}

/** Has a block made after one of the time `parent`, and time go on from it; undefined when none was made. */
export async function mineAt<T>(
  { time, clock }: Pick<MiningParts, "time" | "clock">,
  parent: bigint,
  mine: (timestamp: bigint) => Promise<T>,
): Promise<T> {
  const timestamp = time.next(parent, clock.nowMs());
  const mined = await mine(timestamp);
  if (mined !== undefined) time.mined(timestamp, clock.nowMs());
  return mined;
}
