import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Steps } from "../primitives/steps.ts";
import type { Overlay } from "../state/overlay.ts";
import type { StateChanges } from "../state/stateChanges.ts";
import type { Account } from "../types/account.ts";

/** A written account with its value before, and its written slots. */
export interface WrittenAccount {
  readonly address: Address;
  readonly before: Account | undefined;
  readonly slots: ReadonlyMap<string, WrittenSlot>;
}

interface WrittenSlot {
  readonly slot: Uint8Array;
  /** The slot's value before, without leading zeros. */
  readonly before: Uint8Array;
}

/** An overlay that keeps the values before a transaction; created for one transaction, on the block's overlay. */
export class WatchedOverlay implements Overlay {
  private readonly inner: Overlay;
  private readonly accounts = new Map<string, RecordedAccount>();

  constructor(inner: Overlay) {
    this.inner = inner;
  }

  /** All written accounts, including those that are back at their old value. */
  written(): Iterable<WrittenAccount> {
    return this.accounts.values();
  }

  /** The account before the transaction. */
  accountBefore(address: Address): Account | undefined {
    const recorded = this.accounts.get(toKey(address));
    return recorded === undefined ? this.inner.account(address) : recorded.before;
  }

  /** The slot before the transaction. */
  storageBefore(address: Address, slot: Uint8Array): Uint8Array {
    const recorded = this.accounts.get(toKey(address));
    const known = recorded?.slots.get(toKey(slot));
    if (known !== undefined) return known.before;
    // The inner overlay no longer shows the old values of a cleared storage.
    return recorded?.cleared === true
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
    const recorded = this.record(address);
    if (account === undefined) recorded.cleared = true;
    this.inner.putAccount(address, account);
  }

  putCode(address: Address, code: Uint8Array, codeHash?: Hash): void {
    this.record(address);
    this.inner.putCode(address, code, codeHash);
  }

  putStorage(address: Address, slot: Uint8Array, value: Uint8Array): void {
    const { slots } = this.record(address);
    const key = toKey(slot);
    if (!slots.has(key)) slots.set(key, { slot, before: this.storageBefore(address, slot) });
    this.inner.putStorage(address, slot, value);
  }

  clearStorage(address: Address): void {
    this.record(address).cleared = true;
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

  revertPart(most: number): boolean {
    return this.inner.revertPart(most);
  }

  beginTransaction(): void {
    this.inner.beginTransaction();
  }

  get changeCount(): number {
    return this.inner.changeCount;
  }

  changes(): StateChanges {
    return this.inner.changes();
  }

  changesInSteps(): Steps<StateChanges> {
    return this.inner.changesInSteps();
  }

  private record(address: Address): RecordedAccount {
    const key = toKey(address);
    let recorded = this.accounts.get(key);
    if (recorded === undefined) {
      recorded = { address, before: this.inner.account(address), slots: new Map(), cleared: false };
      this.accounts.set(key, recorded);
    }
    return recorded;
  }
}

interface RecordedAccount extends WrittenAccount {
  readonly slots: Map<string, WrittenSlot>;
  cleared: boolean;
}
