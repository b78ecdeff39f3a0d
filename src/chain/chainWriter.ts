import { setImmediate as nextTurn } from "node:timers/promises";
import { inSteps, type YieldPolicy } from "../execution/yieldPolicy.ts";
import type { Logger } from "../observability/logger.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { StagedState, WorldState } from "../state/worldState.ts";
import { createBatch } from "../storage/batch.ts";
import type { BlockStore } from "../storage/blocks/blockStore.ts";
import { type Batch, DamagedData, type Database } from "../storage/database.ts";
import type { HeadMarker } from "../storage/headMarker.ts";
import type { NamedHeader, StoredBlock } from "../types/block.ts";
import type { Receipt } from "../types/receipt.ts";
import type { HeadChange } from "./chain.ts";

/** Where committed blocks go, and whence they are read again. */
export interface ChainStores {
  readonly database: Database;
  readonly blocks: BlockStore;
  readonly world: WorldState;
  /** Remembers the head outside the database, before anyone hears of it. */
  readonly headMarker: HeadMarker;
}

/** Moves the head: for each move one atomic, durable batch, and then the news of it. Callers take turns. */
export interface ChainWriter {
  /** An object of its own after each move, so that work in between can tell that the head went, even if it came back. */
  readonly head: NamedHeader;
  /** Commits the block that follows the head, with the state that was staged for it. */
  commit(block: StoredBlock, staged: StagedState, yieldPolicy: YieldPolicy): Promise<void>;
  /** Takes away every block above `number`; far back in several durable steps. */
  rewind(number: bigint): Promise<void>;
  onHeadChanged(listener: (change: HeadChange) => void): () => void;
}

export interface ChainWriterParts {
  /** Adds to a block's batch what others keep by block (the tally of votes). */
  alsoWrite(batch: Batch, block: StoredBlock): void;
  readonly logger: Logger;
}

/** Blocks, and about as many transactions and as much gas, that a rewind takes away in one step. */
const REWIND_BLOCKS = 64;
const REWIND_TRANSACTIONS = 20_000;
/** Enough for a quarter of a million logs. */
const REWIND_GAS = 100_000_000n;

export function createChainWriter(
  stores: ChainStores,
  genesis: NamedHeader,
  { alsoWrite, logger }: ChainWriterParts,
): ChainWriter {
  const { database, blocks, world, headMarker } = stores;
  const listeners = new Set<(change: HeadChange) => void>();
  let head = blocks.head() ?? genesis;

  /** The head has moved by now, whatever a listener makes of it: one that fails costs the others nothing. */
  function announce(change: HeadChange): void {
    head = { ...change.head };
    for (const listener of [...listeners]) {
      try {
        listener(change);
      } catch (error) {
        logger.error({ number: head.header.number, error }, "a listener failed at the news of a new head");
      }
    }
  }

  return {
    get head() {
      return head;
    },
    async commit(block, staged, yieldPolicy) {
      assert(equalBytes(block.header.parentHash, head.hash), "a commit extends the head");
      assert(
        equalBytes(block.header.stateRoot, staged.root),
        "the state that is written is the one that the header names",
      );
      const batch = createBatch();
      // The batch is nobody else's and the block is read by nobody before it is written. Others have their turn in between,
      // but for those who move the head: they wait until this has ended.
      const base = head;
      await yieldPolicy.yield();
      await inSteps(staged.writeInSteps(batch), yieldPolicy);
      await inSteps(blocks.putInSteps(batch, block), yieldPolicy);
      alsoWrite(batch, block);
      blocks.complete(batch, block);
      assert(head === base, "nobody moves the head while a block is made ready to be written");
      await Promise.all([database.write(batch), inSteps(world.prepareInSteps(staged), yieldPolicy)]);
      headMarker.record({ number: block.header.number, hash: block.hash });
      world.adopt(staged);
      blocks.remember(block);
      const { header, hash, totalDifficulty } = block;
      announce({ head: { header, hash, totalDifficulty }, added: [block], removed: [] });
    },
    async rewind(number) {
      assert(number >= 0n && number <= head.header.number, "a rewind leads to a block of the chain");
      while (head.header.number > number) await rewindTo(nextStop(number));
    },
    onHeadChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };

  /** What one step takes away is held in memory, its logs included. */
  function nextStop(number: bigint): bigint {
    let stop = head.header.number;
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

  async function rewindTo(number: bigint): Promise<void> {
    const target = expectDefined(blocks.header(number), `block ${number}`);
    const removed: StoredBlock[] = [];
    const batch = createBatch();
    for (let above = head.header.number; above > number; above--) {
      removed.push(wholeBlock(expectDefined(blocks.block(above), `block ${above}`)));
      blocks.delete(batch, above);
      await nextTurn();
    }
    await world.rewind(number, batch);
    blocks.moveHead(batch, target);
    headMarker.lower({ number, hash: target.hash });
    // Until the head is announced, all that is read is of the old one: the disk is ahead of what is held in memory.
    const reads = database.freeze();
    try {
      await database.write(batch);
    } finally {
      reads.release();
    }
    world.rewound(number);
    blocks.forgetAbove(number);
    announce({ head: target, added: [], removed });
  }

  /** The block read whole while it is there: subscribers and filters are told of its logs when it is gone. */
  function wholeBlock(block: StoredBlock): StoredBlock {
    const { header, hash, totalDifficulty, size, transactions, ommers, withdrawals } = block;
    const receipts = soundReceipts(block);
    const whole = { header, hash, totalDifficulty, size, transactions, receipts, ommers };
    return withdrawals === undefined ? whole : { ...whole, withdrawals };
  }

  /** None where they are damaged: to take the block away, and perhaps import it again, is what mends that. */
  function soundReceipts(block: StoredBlock): readonly Receipt[] {
    try {
      return block.receipts;
    } catch (error) {
      if (!(error instanceof DamagedData)) throw error;
      const { number } = block.header;
      logger.warn({ number, error }, "a block is taken away without telling of its logs");
      return [];
    }
  }
}
