import { assert } from "../primitives/assert.ts";
import { createOverlay, type Overlay } from "../state/overlay.ts";
import type { StateReader } from "../state/stateReader.ts";
import type { SentTransaction } from "../types/transaction.ts";
import type { BlockRules } from "./blockRules.ts";
import { openSession } from "./blockSession.ts";
import { beginBlock } from "./executeBlock.ts";
import { executeTransaction } from "./executeTransaction.ts";
import { memoryBounded } from "./yieldPolicy.ts";

/**
 * The state in the middle of a block, on that of its parent: after these, its first transactions, as they were executed
 * when the block was made. To be done on a thread that can be ended. Throws MemoryExhausted.
 */
export async function replayStart(
  blockRules: BlockRules,
  transactions: readonly SentTransaction[],
  parent: StateReader,
): Promise<Overlay> {
  const yieldPolicy = memoryBounded();
  const overlay = createOverlay(parent, yieldPolicy.memory);
  const session = openSession({ ...blockRules, overlay, yieldPolicy });
  const begun = await beginBlock(blockRules, session);
  assert(begun.ok, "a committed block begins again as it did");
  for (const transaction of transactions) {
    overlay.beginTransaction();
    const executed = await executeTransaction(session, transaction);
    assert(executed.ok, "a transaction of a committed block can be executed again");
  }
  return overlay;
}
