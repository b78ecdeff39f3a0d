import { type Eventual, whenThere } from "../primitives/eventual.ts";
import { ok, type Result } from "../primitives/result.ts";
import { effectiveGasPrice, type SentTransaction } from "../types/transaction.ts";
import type { BlockSession } from "./blockSession.ts";
import { checkSender, checkSignedForm, type TransactionCheckErrorCode } from "./checkTransaction.ts";
import { runTransaction } from "./runTransaction.ts";
import type { TransactionResult } from "./transactionResult.ts";
import { runsNoCode, transfer } from "./transfer.ts";

export type TransactionOutcome = Result<TransactionResult, TransactionCheckErrorCode>;

/**
 * Checks a transaction against the state and executes it on the session's overlay, where `beginTransaction` was already
 * called. A refused transaction changes nothing. It completes at once unless it is time to yield: a promise for each of
 * ten thousand transfers a second would cost more than the transfers.
 */
export function executeTransaction(
  session: BlockSession,
  transaction: SentTransaction,
): Eventual<TransactionOutcome> {
  const { rules, config, block, overlay } = session;
  const refused =
    checkSignedForm({ rules, chainId: config.chainId, block }, transaction) ??
    checkSender(transaction, overlay.account(transaction.sender), (account) =>
      overlay.code(account.codeHash),
    );
  if (refused !== undefined) return refused;
  const price = effectiveGasPrice(transaction, block.baseFeePerGas);
  if (runsNoCode(session, transaction)) return ok(transfer(session, transaction, price));
  return whenThere(runTransaction(session, transaction, price), ok);
}
