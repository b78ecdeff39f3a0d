import { setImmediate as yieldToEventLoop } from "node:timers/promises";
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

/** The stores that hold committed blocks and states. */
export interface ChainStores {
  readonly database: Database;
  readonly blocks: BlockStore;
  readonly world: WorldState;
  /** Records the head outside the database, before it is announced. */
  readonly headMarker: HeadMarker;
}

/** Moves the head: one atomic, durable batch for each move, then the announcement. Callers must serialise their calls. */
export interface ChainWriter {
  /** A new object after each move, so that comparing identities shows whether the head moved, even if it came back. */
  readonly head: NamedHeader;
  /** Commits the block that follows the head, with its staged state. */
  commit(block: StoredBlock, staged: StagedState, yieldPolicy: YieldPolicy): Promise<void>;
  /** Removes every block above `number`; a long rewind takes several durable steps. */
  rewind(number: bigint): Promise<void>;
  onHeadChanged(listener: (change: HeadChange) => void): () => void;
}

export interface ChainWriterParts {
  /** Adds to a block's batch what else is stored with the block (the vote tally). */
  alsoWrite(batch: Batch, block: StoredBlock): void;
  readonly logger: Logger;
}

/** Bounds of one rewind step: blocks, and approximately transactions and gas. */
const REWIND_BLOCKS = 64;
const REWIND_TRANSACTIONS = 20_000;
/** Enough gas for a quarter of a million logs. */
const REWIND_GAS = 100_000_000n;

export function createChainWriter(
  stores: ChainStores,
  genesis: NamedHeader,
  { alsoWrite, logger }: ChainWriterParts,
): ChainWriter {
  const { database, blocks, world, headMarker } = stores;
  const listeners = new Set<(change: HeadChange) => void>();
  let head = blocks.head() ?? genesis;

  /** The head has already moved here. A listener that throws does not affect the others. */
  function announce(change: HeadChange): void {
    head = { ...change.head };
    for (const listener of [...listeners]) {
      try {
        listener(change);
      } catch (error) {
        logger.error({ number: head.header.number, error }, "a listener of head changes failed");
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
        "the staged state has the state root of the header",
      );
      const batch = createBatch();
      // Only this function uses the batch, and nothing reads the block before it is written, so other work may run in
      // between. Callers that move the head are serialised and wait.
      const base = head;
      await yieldPolicy.yield();
      await inSteps(staged.writeInSteps(batch), yieldPolicy);
      await inSteps(blocks.putInSteps(batch, block), yieldPolicy);
      alsoWrite(batch, block);
      blocks.complete(batch, block);
      assert(head === base, "the head stays while a block's batch is prepared");
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

  /** Last block that one rewind step keeps. Everything that a step removes is in memory, logs included. */
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
      removed.push(readWholeBlock(expectDefined(blocks.block(above), `block ${above}`)));
      blocks.delete(batch, above);
      await yieldToEventLoop();
    }
    await world.rewind(number, batch);
    blocks.moveHead(batch, target);
    headMarker.lower({ number, hash: target.hash });
    // The disk is ahead of the caches until the head is announced; until then reads see the old head's data.
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

  /** Reads the whole block before it is removed: subscribers and filters need its logs afterwards. */
  function readWholeBlock(block: StoredBlock): StoredBlock {
    const { header, hash, totalDifficulty, size, transactions, ommers, withdrawals } = block;
    const receipts = readableReceipts(block);
    const whole = { header, hash, totalDifficulty, size, transactions, receipts, ommers };
    return withdrawals === undefined ? whole : { ...whole, withdrawals };
  }

  /** Empty where they are damaged: removing the block, and perhaps importing it again, repairs that. */
  function readableReceipts(block: StoredBlock): readonly Receipt[] {
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
}
