import type { YieldPolicy } from "../execution/yieldPolicy.ts";
import type { Logger } from "../observability/logger.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import { equalBytes } from "../primitives/hex.ts";
import { inSteps } from "../primitives/steps.ts";
import type { StagedState } from "../state/worldState.ts";
import { Batch } from "../storage/batch.ts";
import type { Survival } from "../storage/database.ts";
import type { MarkedFolder } from "../storage/developmentMark.ts";
import type { NamedHeader, StoredBlock } from "../types/block.ts";
import type { ChainStores } from "./chainStores.ts";
import { type HeadChange, type HeadListener, HeadListeners } from "./onNewHead.ts";
import { rewindStep } from "./rewindStep.ts";

/**
 * Moves the head: one atomic, durable batch for each move, then the announcement. Callers must serialise their calls. In a folder that is
 * marked for development the batches survive a kill, and a power cut may take the newest (development-network.md#the-mark).
 */
export interface ChainWriter {
  /** A new object after each move, so that comparing identities shows whether the head moved, even if it came back. */
  readonly head: NamedHeader;
  /** Commits the block that follows the head, with its staged state. */
  commit(block: StoredBlock, staged: StagedState, yieldPolicy: YieldPolicy): Promise<void>;
  /** Moves the head to the last of these blocks, which a bulk import has just made durable. */
  follow(blocks: readonly StoredBlock[]): void;
  /** Removes every block above `number`; a long rewind takes several durable steps. */
  rewind(number: bigint): Promise<void>;
  onHeadChanged(row: HeadListener, listener: (change: HeadChange) => void): () => void;
  /** From now on what this writes survives a kill of the process, and a power cut only after `sync`. The folder is evidence of its mark. */
  syncNoMore(folder: MarkedFolder): void;
  /** Makes durable all that was written. */
  sync(): Promise<void>;
}

interface ChainWriterParts {
  /** Adds further entries to a block's batch (the vote tally). */
  alsoWrite(batch: Batch, block: StoredBlock): void;
  readonly logger: Logger;
}

export function createChainWriter(
  stores: ChainStores,
  genesis: NamedHeader,
  { alsoWrite, logger }: ChainWriterParts,
): ChainWriter {
  const { database, blocks, world, headMarker } = stores;
  const listeners = new HeadListeners(logger);
  let head = blocks.head() ?? genesis;
  let survives: Survival = "powerCut";

  function move(change: HeadChange): void {
    head = { ...change.head };
    listeners.announce(change);
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
      const batch = new Batch();
      // Only this function uses the batch, and nothing reads the block before it is written, so other work may run in
      // between. Callers that move the head are serialised and wait.
      const base = head;
      await yieldPolicy.yield();
      await inSteps(staged.writeInSteps(batch), yieldPolicy);
      await inSteps(blocks.putInSteps(batch, block), yieldPolicy);
      alsoWrite(batch, block);
      blocks.complete(batch, block);
      assert(head === base, "the head stays while a block's batch is prepared");
      await Promise.all([
        database.write(batch, survives),
        inSteps(world.prepareInSteps(staged), yieldPolicy),
      ]);
      headMarker.record({ number: block.header.number, hash: block.hash });
      world.adopt(staged);
      blocks.remember(block);
      const { header, hash, totalDifficulty } = block;
      move({ head: { header, hash, totalDifficulty }, added: [block], removed: [] });
    },
    follow(added) {
      const { header, hash, totalDifficulty } = expectDefined(added.at(-1), "a block that was imported");
      headMarker.record({ number: header.number, hash });
      world.reload(header.number);
      move({ head: { header, hash, totalDifficulty }, added, removed: [] });
    },
    async rewind(number) {
      assert(number >= 0n && number <= head.header.number, "a rewind leads to a block of the chain");
      while (head.header.number > number) await rewindStep(stores, { head, number, survives, move }, logger);
    },
    onHeadChanged: (row, listener) => listeners.add(row, listener),
    syncNoMore() {
      survives = "kill";
    },
    async sync() {
      const batch = new Batch();
      blocks.moveHead(batch, head);
      await database.write(batch);
      headMarker.lower({ number: head.header.number, hash: head.hash });
    },
  };
}
