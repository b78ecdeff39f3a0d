import type { Address } from "../primitives/address.ts";
import { type Eventual, onceKnown } from "../primitives/eventual.ts";
import { larger, smaller } from "../primitives/quantity.ts";
import { EMPTY_ACCOUNT } from "../types/account.ts";
import type { BlockSession } from "./blockSession.ts";
import { blobGasOf, type Executable, nonceAfter } from "./checkTransaction.ts";
import { type AppliedAuthorizations, applyAuthorizations, NO_AUTHORIZATIONS } from "./delegation.ts";
import { clearIfEmpty, credit } from "./emptyAccounts.ts";
import type { MessageResult } from "./evm.ts";
import { floorGas, intrinsicGas } from "./intrinsicGas.ts";
import type { TransactionResult } from "./transactionResult.ts";

/**
 * Runs a transaction through the interpreter (yellow paper §6.2). The sender is already checked, and the overlay's
 * `beginTransaction` was already called. `price` is in wei per gas, as effective in this block.
 *
 *     buy gas, raise the nonce ─> authorizations ─> the message ─> refund ─> the beneficiary's fee ─> deletions
 *
 * A discarded session pays nobody and deletes nothing at the end.
 *
 * Throws OutOfTime as the session's YieldPolicy does. The overlay is then as it was before the message, or before an
 * authorization; the caller undoes the rest.
 */
export function runTransaction(
  session: BlockSession,
  transaction: Executable,
  price: bigint,
): Eventual<TransactionResult> {
  session.accesses.clear();
  warmInitially(session, transaction);
  buyGas(session, transaction, price);
  const { authorizationList } = transaction;
  return authorizationList.length === 0
    ? runMessage(session, transaction, price, NO_AUTHORIZATIONS)
    : applyAuthorizations(session, authorizationList).then((applied) =>
        runMessage(session, transaction, price, applied),
      );
}

function runMessage(
  session: BlockSession,
  transaction: Executable,
  price: bigint,
  applied: AppliedAuthorizations,
): Eventual<TransactionResult> {
  const intrinsic = intrinsicGas(session.rules, transaction);
  const message = session.evm.run({
    caller: transaction.sender,
    to: transaction.to,
    value: transaction.value,
    data: transaction.data,
    gasLimit: transaction.gasLimit - intrinsic,
    gasPrice: price,
    blobVersionedHashes: transaction.blobVersionedHashes,
    changes: applied.changes,
  });
  return onceKnown(message, (result) =>
    settle(session, transaction, price, {
      result,
      spent: intrinsic + result.gasUsed,
      refund: result.gasRefund + applied.refund,
    }),
  );
}

/** What remains to settle after a message: its gas with the intrinsic gas, and everything that may be refunded. */
interface Unsettled {
  readonly result: MessageResult;
  readonly spent: bigint;
  readonly refund: bigint;
}

function settle(
  session: BlockSession,
  transaction: Executable,
  price: bigint,
  { result: message, spent, refund: asked }: Unsettled,
): Eventual<TransactionResult> {
  const { rules } = session;
  const refund = asked === 0n ? asked : smaller(asked, spent / rules.refundQuotient);
  const floor = floorGas(rules, transaction.data);
  const gasUsed = larger(spent - refund, floor);
  const { outcome, output, logs, effects, destroyed } = message;
  const settled = { outcome, gasUsed, gasBeforeRefund: larger(spent, floor), output, logs, effects };
  if (session.isDiscarded) return settled;
  return onceKnown(settleAccounts(session, transaction, price, { gasUsed, destroyed }), () => settled);
}

/** Gives gas back, pays the beneficiary, and deletes accounts. */
function settleAccounts(
  session: BlockSession,
  { sender, gasLimit }: Executable,
  price: bigint,
  { gasUsed, destroyed }: Pick<TransactionResult, "gasUsed"> & Pick<MessageResult, "destroyed">,
): Eventual<void> {
  const { rules, block, overlay, accesses } = session;
  const returned = (gasLimit - gasUsed) * price;
  const fee = gasUsed * (rules.hasBaseFee ? price - (block.baseFeePerGas ?? 0n) : price);
  if (returned > 0n) credit(overlay, sender, returned);
  // If empty accounts are deleted, an account created by a fee of zero would not outlast the transaction.
  if (fee > 0n || !rules.clearsEmptyAccounts) credit(overlay, block.beneficiary, fee);
  accesses.touch(block.beneficiary);
  return deleteAccounts(session, destroyed);
}

/** Warms sender, recipient, beneficiary and access list before execution (EIP-2929, EIP-2930, EIP-3651). */
function warmInitially(
  { rules, accesses, block }: BlockSession,
  { sender, to, accessList }: Executable,
): void {
  if (!rules.hasColdAccess) return;
  accesses.warm(sender);
  if (to !== undefined) accesses.warm(to);
  if (rules.hasWarmBeneficiary) accesses.warm(block.beneficiary);
  for (const { address, storageKeys } of accessList) {
    accesses.warm(address);
    for (const key of storageKeys) accesses.warmSlot(address, key);
  }
}

function buyGas({ overlay, accesses, block }: BlockSession, transaction: Executable, price: bigint): void {
  const { sender, gasLimit } = transaction;
  const account = overlay.account(sender) ?? EMPTY_ACCOUNT;
  const cost = gasLimit * price + blobGasOf(transaction) * block.blobBaseFee;
  overlay.putAccount(sender, {
    ...account,
    nonce: nonceAfter(account.nonce),
    balance: account.balance - cost,
  });
  accesses.touch(sender);
}

function deleteAccounts(session: BlockSession, destroyed: readonly Address[]): Eventual<void> {
  const { rules, overlay, accesses } = session;
  for (const address of destroyed) overlay.putAccount(address, undefined);
  if (!rules.clearsEmptyAccounts) return;
  if (accesses.size > CLEARED_AT_ONCE) return clearInTurns(session);
  for (const address of accesses.touched()) clearIfEmpty(overlay, address);
}

async function clearInTurns({ overlay, accesses, yieldPolicy }: BlockSession): Promise<void> {
  let looked = 0;
  for (const address of accesses.touched()) {
    clearIfEmpty(overlay, address);
    if (++looked % CLEARED_AT_ONCE === 0 && yieldPolicy.isDue()) await yieldPolicy.yield();
  }
}

/** Accounts that are looked at without a pause, to delete the empty ones: some milliseconds. */
const CLEARED_AT_ONCE = 5_000;
