import { assert } from "../primitives/assert.ts";
import type { TimeSlice } from "../primitives/timeSlice.ts";
import { JournaledOverlay, type Overlay } from "../state/overlay.ts";
import type { StateReader } from "../state/stateReader.ts";
import type { SentTransaction } from "../types/transaction.ts";
import type { BlockRules } from "./blockRules.ts";
import { BlockSession } from "./blockSession.ts";
import { beginBlock } from "./executeBlock.ts";
import { executeTransaction } from "./executeTransaction.ts";
import { memoryBounded } from "./yieldPolicy.ts";

/**
 * Replays a block's first `transactions` on its parent's state, and returns the state in the middle of the block. Runs
 * on a thread that can be terminated. Throws MemoryExhausted, and SliceUsedUp.
 */
export async function replayStart(
  blockRules: BlockRules,
  transactions: readonly SentTransaction[],
  parent: StateReader,
  slice: TimeSlice | undefined,
): Promise<Overlay> {
  const yieldPolicy = memoryBounded(undefined, slice);
  const overlay = new JournaledOverlay(parent, yieldPolicy.memory);
  const session = new BlockSession({ ...blockRules, overlay, yieldPolicy });
  const begun = await beginBlock(blockRules, session);
  assert(begun.ok, "the system calls of a committed block can be replayed");
  for (const transaction of transactions) {
    overlay.beginTransaction();
    const executed = await executeTransaction(session, transaction);
    assert(executed.ok, "a transaction of a committed block can be replayed");
    if (yieldPolicy.isDue()) await yieldPolicy.yield();
  }
  return overlay;
}
