import type { NamedBlock, NamedHeader } from "../../../src/types/block.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import type { Withdrawal } from "./withdrawals.ts";

/** A block that passed every rule, in the tree of all such blocks. */
export interface TreeBlock extends NamedHeader {
  readonly block: NamedBlock<SentTransaction>;
  readonly withdrawals: readonly Withdrawal[];
  readonly parent: TreeBlock | undefined;
}
