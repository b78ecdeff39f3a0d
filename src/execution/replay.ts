import { assert } from "../primitives/assert.ts";
import type { Overlay } from "../state/overlay.ts";
import type { SentTransaction } from "../types/transaction.ts";
import type { BlockRules } from "./blockRules.ts";
import { type BlockSession, openSession } from "./blockSession.ts";
import { beginBlock } from "./executeBlock.ts";
import { executeTransaction } from "./executeTransaction.ts";
import { TIRELESS } from "./pace.ts";

/**
 * Brings an overlay on the parent's state to the middle of a block: after these, its first transactions, as they were
 * executed when the block was made. To be done on a thread that can be ended.
 */
export async function replayStart(
  blockRules: BlockRules,
  transactions: readonly SentTransaction[],
  overlay: Overlay,
): Promise<BlockSession> {
  const session = openSession({ ...blockRules, overlay, pace: TIRELESS });
  const begun = await beginBlock(blockRules, session);
  assert(begun.ok, "a committed block begins again as it did");
  for (const transaction of transactions) {
    overlay.beginTransaction();
    const executed = await executeTransaction(session, transaction);
    assert(executed.ok, "a transaction of a committed block can be executed again");
  }
  return session;
}
