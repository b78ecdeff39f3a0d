import type { Address } from "../primitives/address.ts";
import { EMPTY_CODE_HASH } from "../primitives/hash.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Overlay } from "../state/overlay.ts";
import { type Account, EMPTY_ACCOUNT } from "../types/account.ts";
import type { AccessJournal } from "./accessJournal.ts";
import { isRipemd160 } from "./precompiles/addresses.ts";

/** Adds wei to an account; creates it if it does not exist, even if the amount is zero. */
export function credit(overlay: Overlay, address: Address, amount: bigint): void {
  const account = overlay.account(address) ?? EMPTY_ACCOUNT;
  overlay.putAccount(address, { ...account, balance: account.balance + amount });
}

/**
 * Touches an account that gets nothing (EIP-161). A revert does not undo that if it is the precompiled contract of
 * RIPEMD-160, and empty: block 2,675,119 of mainnet made that a rule.
 */
export function touchWithNothing(overlay: Overlay, accesses: AccessJournal, address: Address): void {
  if (isRipemd160(address) && isEmpty(overlay.account(address) ?? EMPTY_ACCOUNT))
    accesses.touchForGood(address);
  else accesses.touch(address);
}

/** Deletes the account if it is empty, as for touched accounts at the end of a transaction (EIP-161). */
export function clearIfEmpty(overlay: Overlay, address: Address): void {
  const account = overlay.account(address);
  if (account !== undefined && isEmpty(account)) overlay.putAccount(address, undefined);
}

/** No nonce, no balance, no code (EIP-161). */
export function isEmpty(account: Account): boolean {
  return account.nonce === 0n && account.balance === 0n && hasNoCode(account);
}

export function hasNoCode({ codeHash }: Account): boolean {
  return codeHash === EMPTY_CODE_HASH || equalBytes(codeHash, EMPTY_CODE_HASH);
}
