import { equalBytes } from "../../primitives/hex.ts";
import { EMPTY_ACCOUNT } from "../../types/account.ts";
import { isEmpty } from "../emptyAccounts.ts";
import type { HaltReason } from "../haltReason.ts";
import { NEW_ACCOUNT_GAS } from "./calls.ts";
import { finish } from "./ends.ts";
import type { Frame } from "./frame.ts";
import { type Run, WARM_GAS } from "./run.ts";

/** SELFDESTRUCT: ends the frame, or returns the reason for which it halts. */
export function selfdestruct(run: Run, frame: Frame): HaltReason | undefined {
  const reason = destroy(run, frame);
  if (reason === undefined) finish(run, frame, "succeeded");
  return reason;
}

/** SELFDESTRUCT, except for the end of the frame. */
export function destroy(run: Run, frame: Frame): HaltReason | undefined {
  const { overlay, accesses, substate, rules, table } = run;
  if (frame.isStatic) return "ILLEGAL_STATE_CHANGE";
  if (run.stackSize(frame) < 1) return "INSUFFICIENT_STACK_ITEMS";
  const heir = run.addressAt(run.word(frame, 0));
  const { address } = frame;
  const account = overlay.account(address) ?? EMPTY_ACCOUNT;
  const { balance } = account;
  if (!run.charge(frame, destructionPrice(run, frame))) return "INSUFFICIENT_GAS";
  if (!substate.isDestroyed(address)) run.refund += table.selfdestructRefund;
  substate.destroy(address);
  run.watch?.destroyed(address, heir);
  const isSelf = equalBytes(heir, address);
  if (!isSelf) {
    const receiving = overlay.account(heir) ?? EMPTY_ACCOUNT;
    overlay.putAccount(heir, { ...receiving, balance: receiving.balance + balance });
    accesses.touch(heir);
  }
  // EIP-6780: an older contract stays, and its balance only leaves for another account.
  if (!rules.keepsOldContracts || substate.isCreated(address) || !isSelf)
    overlay.putAccount(address, { ...account, balance: 0n });
  run.countChanges();
  return undefined;
}

/** The price of SELFDESTRUCT; warms the account that receives the balance. */
export function destructionPrice(run: Run, frame: Frame): number {
  const { overlay, table } = run;
  const heir = run.addressAt(run.word(frame, 0));
  const balance = overlay.account(frame.address)?.balance ?? 0n;
  let price = table.selfdestruct;
  if (table.selfdestructCreates === "always" && overlay.account(heir) === undefined) price += NEW_ACCOUNT_GAS;
  if (table.selfdestructCreates === "withBalance" && balance > 0n) {
    const existing = overlay.account(heir);
    if (existing === undefined || isEmpty(existing)) price += NEW_ACCOUNT_GAS;
  }
  const access = run.accountAccess(heir);
  if (access > WARM_GAS) price += access;
  return price;
}
