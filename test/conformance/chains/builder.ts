import type { BlockRules } from "../../../src/execution/blockRules.ts";
import { type BuiltBlock, buildBlock, type TransactionSource } from "../../../src/execution/buildBlock.ts";
import type { Overlay } from "../../../src/state/overlay.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";

/** Our builder of blocks, given these transactions, as much time as it wants and the state before them. */
export function buildFrom(
  terms: BlockRules,
  transactions: readonly SentTransaction[],
  overlay: Overlay,
  intermediateRoot?: () => Uint8Array,
): Promise<BuiltBlock> {
  return buildBlock(terms, sourceOf(transactions), overlay, {
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
