import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Account } from "../types/account.ts";
import type { StateReader } from "./stateReader.ts";

/**
 * Writes held in memory over a reader, with an undo journal: a checkpoint costs nothing, a revert costs the changes
 * made since. Nothing reaches the disk from here; a block on trial is one overlay, dropped or committed whole.
 */
export interface Overlay extends StateReader {
  /** Undefined deletes the account and, with it, its storage. */
  putAccount(address: Address, account: Account | undefined): void;
  /** `value` without leading zeros; empty clears the slot. */
  putStorage(address: Address, slot: Uint8Array, value: Uint8Array): void;
  /** Stores code and sets the account's codeHash (the account is created when absent). */
  putCode(address: Address, code: Uint8Array): void;
  /** Drops every slot of the account, those on disk included. */
  clearStorage(address: Address): void;
  /** True when the account has any storage (EIP-7610: a creation over it fails). */
  hasStorage(address: Address): boolean;
  checkpoint(): void;
  commit(): void;
  revert(): void;
  /** Value the slot had when the current transaction began (EIP-2200, EIP-3529). */
  originalStorage(address: Address, slot: Uint8Array): Uint8Array;
  /** Marks the beginning of a transaction for originalStorage. No checkpoint may be open. */
  beginTransaction(): void;
  /** Everything that differs from the reader below. No checkpoint may be open. */
  changes(): StateChanges;
}

/** The dirty set of an overlay, by address. */
export interface StateChanges {
  readonly accounts: readonly AccountChange[];
  /** New contract code by hash. */
  readonly code: readonly { readonly codeHash: Hash; readonly code: Uint8Array }[];
}

export interface AccountChange {
  readonly address: Address;
  /** Absent when the account no longer exists. Its storageRoot is not yet derived: it is that of the state below. */
  readonly account?: Account;
  /** True when all slots of the state below are gone (self-destruct, re-creation). */
  readonly storageCleared: boolean;
  readonly slots: readonly { readonly slot: Uint8Array; readonly value: Uint8Array }[];
}
