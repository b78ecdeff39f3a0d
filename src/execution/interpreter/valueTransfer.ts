import { EVMError, type Message } from "@ethereumjs/evm";
import type { Address as LibraryAddress } from "@ethereumjs/util";
import { asAddress } from "../../primitives/address.ts";
import type { Overlay } from "../../state/overlay.ts";
import { EMPTY_ACCOUNT } from "../../types/account.ts";
import type { AccessJournal } from "../accessJournal.ts";
import { credit } from "../emptyAccounts.ts";
import type { Rules } from "../rules.ts";

/**
 * Moves the value of a message. Touches both accounts even for zero; returns the error if the sender's balance is too
 * low.
 */
export function transferValue(
  { overlay, accesses }: { readonly overlay: Overlay; readonly accesses: AccessJournal },
  rules: Rules,
  { caller, to, value }: Message & { readonly to: LibraryAddress },
): EVMError | undefined {
  const from = asAddress(caller.bytes);
  const recipient = asAddress(to.bytes);
  accesses.touch(from);
  accesses.touch(recipient);
  if (value === 0n) {
    if (!rules.clearsEmptyAccounts) credit(overlay, recipient, 0n);
    return undefined;
  }
  const account = overlay.account(from) ?? EMPTY_ACCOUNT;
  if (account.balance < value) return new EVMError(EVMError.errorMessages.INSUFFICIENT_BALANCE);
  overlay.putAccount(from, { ...account, balance: account.balance - value });
  const { balance } = overlay.account(recipient) ?? EMPTY_ACCOUNT;
  if (balance + value > HIGHEST_BALANCE) return new EVMError(EVMError.errorMessages.VALUE_OVERFLOW);
  credit(overlay, recipient, value);
  return undefined;
}

const HIGHEST_BALANCE = 2n ** 256n - 1n;
