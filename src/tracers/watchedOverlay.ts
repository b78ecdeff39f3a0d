import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Overlay, StateChanges } from "../state/overlay.ts";
import type { Account } from "../types/account.ts";

/** An account that was written to, as it was before; of its storage the slots that were written. */
export interface WrittenAccount {
  readonly address: Address;
  readonly before: Account | undefined;
  readonly slots: ReadonlyMap<string, WrittenSlot>;
}

export interface WrittenSlot {
  readonly slot: Uint8Array;
  /** Without leading zeros. */
  readonly before: Uint8Array;
}

/** An overlay that remembers what it was before a transaction: made for one transaction, over the block's overlay. */
export class WatchedOverlay implements Overlay {
  private readonly inner: Overlay;
  private readonly accounts = new Map<string, NotedAccount>();

  constructor(inner: Overlay) {
    this.inner = inner;
  }

  /** Everything that was written to, though it may be again what it was. */
  written(): Iterable<WrittenAccount> {
    return this.accounts.values();
  }

  /** The account before the transaction. */
  accountBefore(address: Address): Account | undefined {
    const noted = this.accounts.get(toKey(address));
    return noted === undefined ? this.inner.account(address) : noted.before;
  }

  /** The slot before the transaction. */
  storageBefore(address: Address, slot: Uint8Array): Uint8Array {
    const noted = this.accounts.get(toKey(address));
    const known = noted?.slots.get(toKey(slot));
    if (known !== undefined) return known.before;
    // A storage that was cleared meanwhile hides what was in it.
    return noted?.cleared === true
      ? this.inner.originalStorage(address, slot)
      : this.inner.storage(address, slot);
  }

  account(address: Address): Account | undefined {
    return this.inner.account(address);
  }

  storage(address: Address, slot: Uint8Array): Uint8Array {
    return this.inner.storage(address, slot);
  }

  code(codeHash: Hash): Uint8Array {
    return this.inner.code(codeHash);
  }

  codeSize(codeHash: Hash): number {
    return this.inner.codeSize(codeHash);
  }

  hasStorage(address: Address): boolean {
    return this.inner.hasStorage(address);
  }

  originalStorage(address: Address, slot: Uint8Array): Uint8Array {
    return this.inner.originalStorage(address, slot);
  }

  putAccount(address: Address, account: Account | undefined): void {
    const noted = this.note(address);
    if (account === undefined) noted.cleared = true;
    this.inner.putAccount(address, account);
  }

  putCode(address: Address, code: Uint8Array): void {
    this.note(address);
    this.inner.putCode(address, code);
  }

  putStorage(address: Address, slot: Uint8Array, value: Uint8Array): void {
    const { slots } = this.note(address);
    const key = toKey(slot);
    if (!slots.has(key)) slots.set(key, { slot, before: this.storageBefore(address, slot) });
    this.inner.putStorage(address, slot, value);
  }

  clearStorage(address: Address): void {
    this.note(address).cleared = true;
    this.inner.clearStorage(address);
  }

  checkpoint(): void {
    this.inner.checkpoint();
  }

  commit(): void {
    this.inner.commit();
  }

  revert(): void {
    this.inner.revert();
  }

  beginTransaction(): void {
    this.inner.beginTransaction();
  }

  changes(): StateChanges {
    return this.inner.changes();
  }

  private note(address: Address): NotedAccount {
    const key = toKey(address);
    let noted = this.accounts.get(key);
    if (noted === undefined) {
      noted = { address, before: this.inner.account(address), slots: new Map(), cleared: false };
      this.accounts.set(key, noted);
    }
    return noted;
  }
}

interface NotedAccount extends WrittenAccount {
  readonly slots: Map<string, WrittenSlot>;
  cleared: boolean;
}
