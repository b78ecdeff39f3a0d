import { type Eventual, onceKnown } from "../primitives/eventual.ts";
import { toHex } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { isImpersonated } from "../types/impersonatedSignature.ts";
import { effectiveGasPrice, type SentTransaction } from "../types/transaction.ts";
import type { BlockSession } from "./blockSession.ts";
import { checkSender, checkSignedForm, type TransactionCheckErrorCode } from "./checkTransaction.ts";
import { revertInTurns } from "./longRevert.ts";
import { MemoryBeyondLimit } from "./memoryBudget.ts";
import { runTransaction } from "./runTransaction.ts";
import type { Permission } from "./transactionPermission.ts";
import type { TransactionResult } from "./transactionResult.ts";
import { runsNoCode, transfer } from "./transfer.ts";
import { OutOfTime } from "./yieldPolicy.ts";

/** Reason why a transaction is not valid in a block, found before its execution or by it (MemoryBeyondLimit). */
export type ExecutionErrorCode =
  | TransactionCheckErrorCode
  | "memoryBeyondLimit"
  /** The account contract denies the transaction. */
  | "senderNotPermitted"
  /** The account contract gives no readable answer. */
  | "permissionUnknown";

export type TransactionOutcome = Result<TransactionResult, ExecutionErrorCode>;

/**
 * Checks a transaction against the state and executes it on the session's overlay, where `beginTransaction` was already
 * called. A refused transaction changes nothing. Completes synchronously unless it is time to yield: a promise for each of
 * ten thousand transfers a second would cost more than the transfers. A contract that decides who may send is asked after
 * the transaction's form and before its sender's account, as Besu does. After OutOfTime the overlay is as before; after any
 * other exception it is unusable.
 */
export function executeTransaction(
  session: BlockSession,
  transaction: SentTransaction,
): Eventual<TransactionOutcome> {
  const { rules, config, block, askPermission, yieldPolicy } = session;
  const malformed = checkSignedForm({ rules, chainId: config.chainId, block }, transaction);
  if (malformed !== undefined) return malformed;
  if (askPermission === undefined) return executeForSender(session, transaction);
  const proceed = (permission: Permission): Eventual<TransactionOutcome> =>
    permission === "permitted"
      ? executeForSender(session, transaction)
      : notPermitted(transaction, permission);
  const permission = askPermission(transaction, yieldPolicy);
  return permission instanceof Promise ? permission.then(proceed) : proceed(permission);
}

/** Besu's text for a denied sender, which is the same for lists and contracts. */
function notPermitted(
  { sender }: SentTransaction,
  permission: Exclude<Permission, "permitted">,
): Result<never, ExecutionErrorCode> {
  return permission === "denied"
    ? fail("peer", "senderNotPermitted", `Sender ${toHex(sender)} is not on the Account Allowlist`)
    : fail("peer", "permissionUnknown", permission.failure);
}

function executeForSender(session: BlockSession, transaction: SentTransaction): Eventual<TransactionOutcome> {
  const { block, overlay } = session;
  const refused = checkSender(transaction, overlay.account(transaction.sender), (account) =>
    overlay.code(account.codeHash),
  );
  // A contract is impersonated in development networks alone: no other transaction has such a signature.
  const isAllowed = refused?.error.code === "senderNotAuthorized" && isImpersonated(transaction);
  if (refused !== undefined && !isAllowed) return refused;
  const price = effectiveGasPrice(transaction, block.baseFeePerGas);
  if (runsNoCode(session, transaction)) return ok(transfer(session, transaction, price));
  overlay.checkpoint();
  const keep = (result: TransactionResult): TransactionOutcome => {
    overlay.commit();
    return ok(result);
  };
  const undo = (error: unknown): Eventual<TransactionOutcome> => {
    if (error instanceof MemoryBeyondLimit)
      return onceKnown(revertInTurns(overlay), () => fail("peer", "memoryBeyondLimit", error.message));
    if (!(error instanceof OutOfTime)) throw error;
    return onceKnown(revertInTurns(overlay), () => {
      throw error;
    });
  };
  try {
    const running = runTransaction(session, transaction, price);
    return running instanceof Promise ? running.then(keep, undo) : keep(running);
  } catch (error) {
    return undo(error);
  }
}
