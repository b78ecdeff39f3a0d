import type { TransactionSupply } from "../../src/chain/blockExecution.ts";
import { toHex } from "../../src/primitives/hex.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";

/** A pool of these transactions, the first ones best. What is dropped leaves it, and what is mined is to be deleted from `waiting`. */
export function aSupply(transactions: readonly SentTransaction[]) {
  const waiting = new Map(transactions.map((transaction) => [toHex(transaction.hash), transaction]));
  const dropped: string[] = [];
  const supply: TransactionSupply = {
    select() {
      const left = [...waiting.values()];
      return { next: () => left.shift(), skipSender: () => undefined };
    },
    drop(hash, reason) {
      waiting.delete(toHex(hash));
      dropped.push(reason);
    },
  };
  return { supply, waiting, dropped };
}
