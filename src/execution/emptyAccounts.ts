import type { Address } from "../primitives/address.ts";
import { EMPTY_CODE_HASH } from "../primitives/hash.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Overlay } from "../state/overlay.ts";
import { type Account, EMPTY_ACCOUNT } from "../types/account.ts";
import type { AccessJournal } from "./accessJournal.ts";
import { precompileAddress } from "./precompiles/addresses.ts";

/** Adds wei to an account; creates it if it does not exist, even if the amount is zero. */
export function credit(overlay: Overlay, address: Address, amount: bigint): void {
  const account = overlay.account(address) ?? EMPTY_ACCOUNT;
  overlay.putAccount(address, { ...account, balance: account.balance + amount });
}

/**
 * Whether a message that fails now still deletes RIPEMD-160's account: the message touched it and leaves it empty. Block
 * 2,675,119 of mainnet made that a rule (ibft2.md#empty-accounts).
 */
export function deletesRipemd160(overlay: Overlay, accesses: AccessJournal): boolean {
  return accesses.isTouchedSinceCheckpoint(RIPEMD160) && isEmpty(overlay.account(RIPEMD160) ?? EMPTY_ACCOUNT);
}

/** Deletes RIPEMD-160's account on behalf of the message's caller, which then has not touched it, as in Besu. */
export function deleteRipemd160(overlay: Overlay, accesses: AccessJournal): void {
  clearIfEmpty(overlay, RIPEMD160);
  accesses.untouch(RIPEMD160);
}

/** Deletes the account if it is empty, as for touched accounts at the end of a transaction (EIP-161). */
export function clearIfEmpty(overlay: Overlay, address: Address): void {
  const account = overlay.account(address);
  if (account !== undefined && isEmpty(account)) overlay.putAccount(address, undefined);
}

/** Whether the account has no nonce, no balance and no code (EIP-161). */
export function isEmpty(account: Account): boolean {
  return account.nonce === 0n && account.balance === 0n && hasNoCode(account);
}

export function hasNoCode({ codeHash }: Account): boolean {
  return codeHash === EMPTY_CODE_HASH || equalBytes(codeHash, EMPTY_CODE_HASH);
}

const RIPEMD160 = precompileAddress(3);
