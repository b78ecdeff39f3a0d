import type { BlockRules } from "../../../src/execution/blockRules.ts";
import { type BuiltBlock, buildBlock, type TransactionSource } from "../../../src/execution/buildBlock.ts";
import type { Overlay } from "../../../src/state/overlay.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";

/** Runs our block builder with these transactions, on the given state, without a time limit. */
export function buildFrom(
  context: BlockRules,
  transactions: readonly SentTransaction[],
  overlay: Overlay,
  intermediateRoot?: () => Uint8Array,
): Promise<BuiltBlock> {
  return buildBlock(context, sourceOf(transactions), overlay, {
    clock: { nowMs: () => 0 },
    deadlineMs: 1,
    minOccupancyRatio: 1,
    maxBytes: Number.POSITIVE_INFINITY,
    ...(intermediateRoot !== undefined && { intermediateRoot }),
  });
}

function sourceOf(transactions: readonly SentTransaction[]): TransactionSource {
  const rest = [...transactions];
  return { next: () => rest.shift(), skipSender: () => undefined };
}
