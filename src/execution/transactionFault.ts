import type { SentTransaction } from "../types/transaction.ts";

/**
 * A transaction's execution threw while a block was built, because of a defect or something that this machine lacks, which
 * is in `cause`. No rule of the chain says that the transaction is invalid.
 */
export class TransactionFault extends Error {
  override name = "TransactionFault";
  readonly transaction: SentTransaction;

  constructor(transaction: SentTransaction, cause: unknown) {
    super("a transaction could not be executed", { cause });
    this.transaction = transaction;
  }
}
