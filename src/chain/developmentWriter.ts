import { createYieldPolicy } from "../execution/yieldPolicy.ts";
import { assert } from "../primitives/assert.ts";
import type { Clock } from "../primitives/clock.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Mutex } from "../primitives/mutex.ts";
import { inSteps } from "../primitives/steps.ts";
import type { Overlay } from "../state/overlay.ts";
import type { StagedState, WorldState } from "../state/worldState.ts";
import type { MarkedFolder } from "../storage/developmentMark.ts";
import type { NamedHeader } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import type { BlockExecution } from "./blockExecution.ts";
import type { ChainWriter } from "./chainWriter.ts";
import type { ExecutedBlock, ExecutedBlocks } from "./executedBlocks.ts";
import { sealedBlock } from "./importBlock.ts";
import type { UnsealedBlock } from "./unsealedBlock.ts";

interface DevelopmentWriterParts {
  readonly writer: ChainWriter;
  readonly mutex: Mutex;
  readonly world: WorldState;
  readonly execution: BlockExecution;
  readonly executedBlocks: ExecutedBlocks;
  readonly clock: Pick<Clock, "nowMs">;
}

/**
 * Commits blocks that keep no rule of time, and states that no transaction made, on the chain of a folder that is marked for
 * development (src/dev). The one writer moves the head here, too, one move at a time.
 */
export class DevelopmentWriter {
  private readonly parts: DevelopmentWriterParts;

  /**
   * The folder is evidence that the mark is durable. From now on the chain's writes are not synced: such a chain is made again in a
   * moment, and waiting for the disk would take most of the time of a builder's tests.
   */
  constructor(folder: MarkedFolder, parts: DevelopmentWriterParts) {
    this.parts = parts;
    parts.writer.syncNoMore(folder);
  }

  /** The fixed header fields of the block after the head. */
  unsealed(timestamp: bigint): UnsealedBlock {
    const { execution, writer } = this.parts;
    return execution.unsealed(writer.head, timestamp);
  }

  /** An empty overlay over the state after the head. Not valid once the head has moved. */
  overlay(): Overlay {
    return this.parts.world.overlay();
  }

  /** Derives the state after the overlay's changes, for the block after the head, which must not move meanwhile. */
  stage(overlay: Overlay): Promise<StagedState> {
    const { world, writer, clock } = this.parts;
    const number = writer.head.header.number + 1n;
    return inSteps(world.stageInSteps(overlay, number), createYieldPolicy(clock));
  }

  /** Makes all blocks durable. */
  sync(): Promise<void> {
    const { mutex, writer } = this.parts;
    return mutex.runExclusive(() => writer.sync());
  }

  /** Commits a candidate that the chain has built on its head, with the header that has its seals. */
  commitBuilt(header: Header, hash: Uint8Array): Promise<NamedHeader> {
    const executed = this.parts.executedBlocks.find(hash);
    assert(executed !== undefined, "the chain has built the block on its head");
    return this.commit(header, executed);
  }

  /** Commits a block that follows the head, with its state. The header has the seals, and otherwise is that of the block. */
  commit(header: Header, executed: ExecutedBlock): Promise<NamedHeader> {
    const { writer, mutex, clock } = this.parts;
    return mutex.runExclusive(async () => {
      assert(equalBytes(header.parentHash, writer.head.hash), "a block for development follows the head");
      const block = sealedBlock(executed, header, writer.head);
      await writer.commit(block, executed.staged, createYieldPolicy(clock));
      return writer.head;
    });
  }
}
