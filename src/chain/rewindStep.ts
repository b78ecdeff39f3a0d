import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Logger } from "../observability/logger.ts";
import { expectDefined } from "../primitives/assert.ts";
import { Batch } from "../storage/batch.ts";
import type { BlockStore } from "../storage/blocks/blockStore.ts";
import { DamagedData, type Survival } from "../storage/database.ts";
import type { NamedHeader, StoredBlock } from "../types/block.ts";
import type { Receipt } from "../types/receipt.ts";
import type { ChainStores } from "./chainStores.ts";
import type { HeadChange } from "./onNewHead.ts";

/** Bounds of one rewind step: blocks, and approximately transactions and gas. */
const REWIND_BLOCKS = 64;
const REWIND_TRANSACTIONS = 20_000;
/** Gas for a quarter of a million logs. */
const REWIND_GAS = 100_000_000n;

/** The states begin above the block that a rewind should lead to. */
export class NoStateToRewindTo extends Error {
  override name = "NoStateToRewindTo";
}

interface RewindStep {
  readonly head: NamedHeader;
  /** The block to rewind to, in one step or several. */
  readonly number: bigint;
  readonly survives: Survival;
  /** Moves the head. Called in the same turn as the caches are cleared, so that no reader sees the one without the other. */
  readonly move: (change: HeadChange) => void;
}

/**
 * Removes blocks from the head downwards, durably: those above `number`, or as many as one step may hold in memory. Then it
 * moves the head.
 */
export async function rewindStep(
  stores: ChainStores,
  { head, number, survives, move }: RewindStep,
  logger: Logger,
): Promise<void> {
  const { database, blocks, world, headMarker } = stores;
  const stop = lastKept(blocks, head.header.number, number);
  const target = expectDefined(blocks.header(stop), `block ${stop}`);
  const removed: StoredBlock[] = [];
  const batch = new Batch();
  for (let above = head.header.number; above > stop; above--) {
    removed.push(readWholeBlock(expectDefined(blocks.block(above), `block ${above}`), logger));
    blocks.delete(batch, above);
    await yieldToEventLoop();
  }
  await world.rewind(stop, batch);
  blocks.moveHead(batch, target);
  headMarker.lower({ number: stop, hash: target.hash }, survives);
  // The disk is ahead of the caches until the head is announced; until then reads see the old head's data.
  const reads = database.freeze();
  try {
    await database.write(batch, survives);
  } finally {
    reads.release();
  }
  world.reload(stop);
  blocks.forgetAbove(stop);
  move({ head: target, added: [], removed });
}

/** Last block that one rewind step keeps. Everything that a step removes is in memory, logs included. */
function lastKept(blocks: BlockStore, head: bigint, number: bigint): bigint {
  let stop = head;
  let transactions = 0;
  let gas = 0n;
  for (let blocksAway = 0; stop > number && blocksAway < REWIND_BLOCKS; blocksAway++) {
    if (transactions >= REWIND_TRANSACTIONS || gas >= REWIND_GAS) break;
    const block = blocks.block(stop);
    transactions += block?.transactions.length ?? 0;
    gas += block?.header.gasUsed ?? 0n;
    stop--;
  }
  return stop;
}

/** Reads the whole block before it is removed: subscribers and filters need its logs afterwards. */
function readWholeBlock(block: StoredBlock, logger: Logger): StoredBlock {
  const { header, hash, totalDifficulty, size, transactions, ommers, withdrawals } = block;
  const receipts = readableReceipts(block, logger);
  const whole = { header, hash, totalDifficulty, size, transactions, receipts, ommers };
  return withdrawals === undefined ? whole : { ...whole, withdrawals };
}

/** The block's receipts; none if they are damaged: removing the block, and perhaps importing it again, repairs that. */
function readableReceipts(block: StoredBlock, logger: Logger): readonly Receipt[] {
  try {
    return block.receipts;
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
    const { number } = block.header;
    logger.warn(
      { number, error },
      "a block is removed without announcing its logs, because its receipts are damaged",
    );
    return [];
  }
}
