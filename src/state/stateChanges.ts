import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Account } from "../types/account.ts";

/** The changes of an overlay, by address. */
export interface StateChanges {
  readonly accounts: readonly AccountChange[];
  /** New contract code by hash. */
  readonly code: readonly { readonly codeHash: Hash; readonly code: Uint8Array }[];
}

export interface AccountChange {
  readonly address: Address;
  /** Absent when the account no longer exists. Its storageRoot is still the one of the state below. */
  readonly account?: Account;
  /** True when all slots of the state below are gone (self-destruct, re-creation). */
  readonly storageCleared: boolean;
  readonly slots: readonly { readonly slot: Uint8Array; readonly value: Uint8Array }[];
}
