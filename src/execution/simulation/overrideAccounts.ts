import type { Overlay } from "../../state/overlay.ts";
import { EMPTY_ACCOUNT } from "../../types/account.ts";
import { clearIfEmpty } from "../emptyAccounts.ts";
import type { AccountOverride } from "./callRequest.ts";

/** Applies account overrides to an overlay, as if they were part of the state before. */
export function overrideAccounts(overlay: Overlay, overrides: readonly AccountOverride[]): void {
  for (const { address, nonce, balance, code, storage } of overrides) {
    const account = overlay.account(address) ?? EMPTY_ACCOUNT;
    overlay.putAccount(address, {
      ...account,
      nonce: nonce ?? account.nonce,
      balance: balance ?? account.balance,
    });
    if (code !== undefined) overlay.putCode(address, code);
    if (storage?.replacesAll === true) overlay.clearStorage(address);
    for (const { slot, value } of storage?.slots ?? []) overlay.putStorage(address, slot, value);
    // An override does not create an empty account (EIP-161).
    if (!overlay.hasStorage(address)) clearIfEmpty(overlay, address);
  }
}
