import { toKey } from "../primitives/byteKey.ts";
import type { StagedState } from "../state/worldState.ts";
import type { NamedBlock } from "../types/block.ts";
import type { Receipt } from "../types/receipt.ts";
import type { SentTransaction } from "../types/transaction.ts";

/**
 * A block that was executed on the head's state, with a header that promises just what came of it. Its name covers
 * neither round nor seals, so one execution serves a proposal, its repetition in a later round, and the sealed block.
 */
export interface ExecutedBlock {
  readonly block: NamedBlock<SentTransaction>;
  readonly receipts: readonly Receipt[];
  readonly staged: StagedState;
}

/** Executions on top of the present head, by chain hash, so that nothing is executed twice (architecture.md, decision 4). */
export interface Executions {
  keep(executed: ExecutedBlock): void;
  find(hash: Uint8Array): ExecutedBlock | undefined;
  /** The head has moved: all of them stood on the old one. */
  clear(): void;
}

/** One for each round that a height may take before it is time to forget the oldest. */
const KEPT_EXECUTIONS = 8;

export function createExecutions(): Executions {
  const kept = new Map<string, ExecutedBlock>();
  return {
    keep(executed) {
      kept.set(toKey(executed.block.hash), executed);
      const [oldest] = kept.keys();
      if (kept.size > KEPT_EXECUTIONS && oldest !== undefined) kept.delete(oldest);
    },
    find: (hash) => kept.get(toKey(hash)),
    clear: () => kept.clear(),
  };
}
