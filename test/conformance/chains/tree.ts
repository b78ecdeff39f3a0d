import type { NamedBlock, NamedHeader } from "../../../src/types/block.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import type { Withdrawal } from "./withdrawals.ts";

/** A valid block in the tree of all valid blocks. */
export interface TreeBlock extends NamedHeader {
  readonly block: NamedBlock<SentTransaction>;
  readonly withdrawals: readonly Withdrawal[];
  readonly parent: TreeBlock | undefined;
}
