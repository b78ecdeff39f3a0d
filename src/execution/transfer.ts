import type { Address } from "../primitives/address.ts";
import { expectDefined } from "../primitives/assert.ts";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import type { Overlay } from "../state/overlay.ts";
import { EMPTY_ACCOUNT } from "../types/account.ts";
import type { BlockSession } from "./blockSession.ts";
import { blobGasOf, type Executable, nonceAfter } from "./checkTransaction.ts";
import { NO_EFFECTS } from "./effectCost.ts";
import { clearIfEmpty, credit, hasNoCode } from "./emptyAccounts.ts";
import { minimumGas } from "./intrinsicGas.ts";
import type { TransactionResult } from "./transactionResult.ts";

/**
 * True if no code will run: a call of an account without code that is not a precompiled contract. Never true with an
 * observer, which must see the implicit STOP at the end of code.
 */
export function runsNoCode(session: BlockSession, { to, authorizationList }: Executable): boolean {
  if (session.isObserved || to === undefined || authorizationList.length > 0) return false;
  if (session.isPrecompile(to)) return false;
  const account = session.overlay.account(to);
  return account === undefined || hasNoCode(account);
}

/**
 * Executes a transaction without code, bypassing the interpreter: same state, gas and receipt in a tenth of the time.
 * The sender is already checked. `price` is in wei per gas, as effective in this block.
 */
export function transfer(session: BlockSession, transaction: Executable, price: bigint): TransactionResult {
  const { rules, overlay, block } = session;
  const { sender, value } = transaction;
  const to = expectDefined(transaction.to, "the recipient of a transfer");
  const gasUsed = minimumGas(rules, transaction);
  // An account that does not exist can still send a free transaction without value.
  const account = overlay.account(sender) ?? EMPTY_ACCOUNT;
  const cost = gasUsed * price + blobGasOf(transaction) * block.blobBaseFee + value;
  overlay.putAccount(sender, {
    ...account,
    nonce: nonceAfter(account.nonce),
    balance: account.balance - cost,
  });
  const fee = gasUsed * (rules.hasBaseFee ? price - (block.baseFeePerGas ?? 0n) : price);
  if (rules.clearsEmptyAccounts) {
    creditUnlessZero(overlay, to, value);
    creditUnlessZero(overlay, block.beneficiary, fee);
    if (value === 0n) clearIfEmpty(overlay, to);
    if (fee === 0n) clearIfEmpty(overlay, block.beneficiary);
  } else {
    credit(overlay, to, value);
    credit(overlay, block.beneficiary, fee);
  }
  return {
    outcome: SUCCEEDED,
    gasUsed,
    gasBeforeRefund: gasUsed,
    output: EMPTY_BYTES,
    logs: NO_LOGS,
    effects: NO_EFFECTS,
  };
}

const SUCCEEDED = { kind: "succeeded" } as const;
const NO_LOGS: readonly never[] = [];

/** Credits nothing for zero: an account created by that would be deleted again as empty (EIP-161). */
function creditUnlessZero(overlay: Overlay, address: Address, amount: bigint): void {
  if (amount > 0n) credit(overlay, address, amount);
}
