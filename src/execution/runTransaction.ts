import type { Address } from "../primitives/address.ts";
import { larger, smaller } from "../primitives/quantity.ts";
import { EMPTY_ACCOUNT } from "../types/account.ts";
import type { BlockSession } from "./blockSession.ts";
import { blobGasOf, type Executable, nonceAfter } from "./checkTransaction.ts";
import { applyAuthorizations } from "./delegation.ts";
import { clearIfEmpty, credit } from "./emptyAccounts.ts";
import { floorGas, intrinsicGas } from "./intrinsicGas.ts";
import type { TransactionResult } from "./transactionResult.ts";

/**
 * Runs a transaction through the interpreter (yellow paper §6.2). The sender is already checked, and the overlay's
 * `beginTransaction` was already called. `price` is in wei per gas, as effective in this block.
 *
 *     buy gas, raise the nonce ─> authorizations ─> the message ─> refund ─> the beneficiary's fee ─> deletions
 *
 * Throws OutOfTime as the session's YieldPolicy does. The overlay is then as it was before the message, or before an
 * authorization; the caller undoes the rest.
 */
export async function runTransaction(
  session: BlockSession,
  transaction: Executable,
  price: bigint,
): Promise<TransactionResult> {
  const { rules, block, overlay, accesses } = session;
  const { sender, gasLimit } = transaction;
  accesses.clear();
  warmInitially(session, transaction);
  buyGas(session, transaction, price);
  const { authorizationList } = transaction;
  const authorizationRefund =
    authorizationList.length === 0 ? 0n : await applyAuthorizations(session, authorizationList);

  const intrinsic = intrinsicGas(rules, transaction);
  const message = await session.evm.run({
    caller: sender,
    to: transaction.to,
    value: transaction.value,
    data: transaction.data,
    gasLimit: gasLimit - intrinsic,
    gasPrice: price,
    blobVersionedHashes: transaction.blobVersionedHashes,
  });

  const spent = intrinsic + message.gasUsed;
  const refund = smaller(message.gasRefund + authorizationRefund, spent / rules.refundQuotient);
  const floor = floorGas(rules, transaction.data);
  const gasUsed = larger(spent - refund, floor);
  credit(overlay, sender, (gasLimit - gasUsed) * price);
  credit(
    overlay,
    block.beneficiary,
    gasUsed * (rules.hasBaseFee ? price - (block.baseFeePerGas ?? 0n) : price),
  );
  accesses.touch(block.beneficiary);
  deleteAccounts(session, message.destroyed);
  const { outcome, output, logs } = message;
  return { outcome, gasUsed, gasBeforeRefund: larger(spent, floor), output, logs };
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

function deleteAccounts({ rules, overlay, accesses }: BlockSession, destroyed: readonly Address[]): void {
  for (const address of destroyed) overlay.putAccount(address, undefined);
  if (rules.clearsEmptyAccounts) for (const address of accesses.touched()) clearIfEmpty(overlay, address);
}
