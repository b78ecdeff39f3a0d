import type { Address } from "../primitives/address.ts";
import { assert, assertNever, expectDefined } from "../primitives/assert.ts";
import { keyOfAddress, keyOfSlot } from "../primitives/byteKey.ts";

/**
 * What one transaction has accessed and touched: warm addresses and slots (EIP-2929), and accounts that are deleted if
 * they end up empty (EIP-161). Has an undo log like the overlay's and is checkpointed together with it.
 */
export class AccessJournal {
  private readonly accesses = new Map<string, Access>();
  private readonly log: Undo[] = [];
  private readonly checkpoints: number[] = [];
  private readonly alwaysWarm: ReadonlySet<string>;
  /** What was asked for last, by the identity of the caller's bytes, which the caller does not change. */
  private last: Access | undefined = undefined;
  private lastAddress: Uint8Array | undefined = undefined;

  /** `alwaysWarm` holds the keys of the precompiled contracts. */
  constructor(alwaysWarm: ReadonlySet<string>) {
    this.alwaysWarm = alwaysWarm;
  }

  /** Warms an address; true if it was cold. */
  warm(address: Address): boolean {
    const access = this.accessOf(address);
    if (access.isWarm) return false;
    access.isWarm = true;
    this.note(access, "warm", undefined);
    return !this.alwaysWarm.has(access.key);
  }

  isWarmSlot(address: Address, slot: Uint8Array): boolean {
    return this.accessOf(address).slots?.has(keyOfSlot(slot)) ?? false;
  }

  /** Warms a slot, and its address; true if the slot was cold. */
  warmSlot(address: Address, slot: Uint8Array): boolean {
    const access = this.accessOf(address);
    const key = keyOfSlot(slot);
    if (access.slots?.has(key) === true) return false;
    if (!access.isWarm) this.warm(address);
    access.slots ??= new Set();
    access.slots.add(key);
    this.note(access, "slot", key);
    return true;
  }

  touch(address: Address): void {
    const access = this.accessOf(address);
    if (access.isTouched) return;
    access.isTouched = true;
    this.note(access, "touch", undefined);
  }

  /** Touches an account in a way that no revert undoes. */
  touchForGood(address: Address): void {
    this.accessOf(address).isTouchedForGood = true;
  }

  /** Calls back with each touched account. */
  forEachTouched(found: (address: Address) => void): void {
    for (const access of this.accesses.values())
      if (access.isTouched || access.isTouchedForGood) found(access.address);
  }

  /** Warm slots by address, both as keys (byteKey.ts). Omits addresses without a warm slot. */
  *warmStorage(): Iterable<readonly [address: string, slots: ReadonlySet<string>]> {
    for (const { key, slots } of this.accesses.values())
      if (slots !== undefined && slots.size > 0) yield [key, slots];
  }

  checkpoint(): void {
    this.checkpoints.push(this.log.length);
  }

  commit(): void {
    assert(this.checkpoints.pop() !== undefined, "a commit needs an open checkpoint");
    if (this.checkpoints.length === 0 && this.log.length > 0) this.log.length = 0;
  }

  revert(): void {
    const length = expectDefined(this.checkpoints.pop(), "an open checkpoint to revert to");
    for (let at = this.log.length; at > length; at--)
      this.undo(expectDefined(this.log.pop(), "a journal entry"));
  }

  /** Clears everything for the next transaction. */
  clear(): void {
    assert(this.checkpoints.length === 0, "a transaction ends outside of all checkpoints");
    // A map without entries would get a new table all the same.
    if (this.accesses.size > 0) this.accesses.clear();
    this.lastAddress = undefined;
  }

  private accessOf(address: Address): Access {
    if (address === this.lastAddress && this.last !== undefined) return this.last;
    const key = keyOfAddress(address);
    let access = this.accesses.get(key);
    if (access === undefined) {
      access = { address, key, isWarm: false, isTouched: false, isTouchedForGood: false, slots: undefined };
      this.accesses.set(key, access);
    }
    this.last = access;
    this.lastAddress = address;
    return access;
  }

  private note(access: Access, kind: Undo["kind"], slot: string | undefined): void {
    if (this.checkpoints.length > 0) this.log.push({ kind, access, slot });
  }

  private undo({ kind, access, slot }: Undo): void {
    switch (kind) {
      case "warm":
        access.isWarm = false;
        this.forget(access);
        return;
      case "slot":
        access.slots?.delete(expectDefined(slot, "the slot of a journal entry"));
        return;
      case "touch":
        access.isTouched = false;
        return;
      default:
        assertNever(kind);
    }
  }

  /** Removes an address that is neither warm nor touched any more, so that it is listed where it is accessed again. */
  private forget(access: Access): void {
    if (access.isTouched || access.isTouchedForGood) return;
    this.accesses.delete(access.key);
    this.lastAddress = undefined;
  }
}

/** What was done to one account. */
interface Access {
  readonly address: Address;
  readonly key: string;
  isWarm: boolean;
  isTouched: boolean;
  isTouchedForGood: boolean;
  slots: Set<string> | undefined;
}

interface Undo {
  readonly kind: "warm" | "slot" | "touch";
  readonly access: Access;
  readonly slot: string | undefined;
}
