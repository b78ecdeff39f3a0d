import type { Address } from "../primitives/address.ts";
import { assert, assertNever, expectDefined } from "../primitives/assert.ts";
import { keyOfAddress, keyOfSlot } from "../primitives/byteKey.ts";
import { isRipemd160 } from "./precompiles/addresses.ts";

/**
 * What one transaction has accessed and touched: warm addresses and slots (EIP-2929), and accounts that are deleted if they
 * end up empty (EIP-161). It has an undo log like the overlay's and is checkpointed together with it.
 */
export class AccessJournal {
  private readonly accesses = new Map<string, Access>();
  private readonly log: Undo[] = [];
  /** Number of log entries that were dropped, because nothing outside of all checkpoints is undone. */
  private dropped = 0;
  /** Number of log entries, dropped ones included, at each open checkpoint. */
  private readonly checkpoints: number[] = [];
  private readonly alwaysWarm: ReadonlySet<string>;
  /** The last lookup, by the identity of the caller's bytes, which the caller does not change. */
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
    const { touchedAt } = access;
    if (touchedAt !== UNTOUCHED && (!isRipemd160(address) || this.isSinceCheckpoint(touchedAt))) return;
    this.setTouched(access, this.checkpoints.length === 0 ? OUTSIDE : this.entries);
  }

  /**
   * True if the account was touched since the last checkpoint, even if it was touched before it as well. Only RIPEMD-160's
   * account needs it.
   */
  isTouchedSinceCheckpoint(address: Address): boolean {
    assert(isRipemd160(address), "other accounts remember only when they were touched first");
    const access = this.accesses.get(keyOfAddress(address));
    return access !== undefined && this.isSinceCheckpoint(access.touchedAt);
  }

  /** Forgets that an account was touched, until a revert undoes that. */
  untouch(address: Address): void {
    const access = this.accessOf(address);
    if (access.touchedAt !== UNTOUCHED) this.setTouched(access, UNTOUCHED);
  }

  /** The touched accounts. */
  *touched(): Iterable<Address> {
    for (const { touchedAt, address } of this.accesses.values()) if (touchedAt !== UNTOUCHED) yield address;
  }

  /** Number of accounts that were accessed or touched. */
  get size(): number {
    return this.accesses.size;
  }

  /** Warm slots by address, both as keys (byteKey.ts). Omits addresses without a warm slot. */
  *warmStorage(): Iterable<readonly [address: string, slots: ReadonlySet<string>]> {
    for (const { key, slots } of this.accesses.values())
      if (slots !== undefined && slots.size > 0) yield [key, slots];
  }

  checkpoint(): void {
    this.checkpoints.push(this.entries);
  }

  commit(): void {
    assert(this.checkpoints.pop() !== undefined, "a commit needs an open checkpoint");
    if (this.checkpoints.length > 0 || this.log.length === 0) return;
    this.dropped += this.log.length;
    this.log.length = 0;
  }

  revert(): void {
    this.revertPart(Number.POSITIVE_INFINITY);
    this.checkpoints.pop();
  }

  /** Undoes the newest entries since the last checkpoint, `most` at most, and keeps it open; true while more are left. */
  revertPart(most: number): boolean {
    const entries = expectDefined(this.checkpoints.at(-1), "an open checkpoint to revert to");
    const until = Math.max(entries, this.entries - most);
    for (let at = this.entries; at > until; at--) this.undo(expectDefined(this.log.pop(), "a journal entry"));
    return until > entries;
  }

  /** Clears everything for the next transaction. */
  clear(): void {
    assert(this.checkpoints.length === 0, "a transaction ends outside of all checkpoints");
    // Clearing an empty map would allocate a new table all the same.
    if (this.accesses.size > 0) this.accesses.clear();
    this.lastAddress = undefined;
    this.dropped = 0;
  }

  private get entries(): number {
    return this.dropped + this.log.length;
  }

  private accessOf(address: Address): Access {
    if (address === this.lastAddress && this.last !== undefined) return this.last;
    const key = keyOfAddress(address);
    let access = this.accesses.get(key);
    if (access === undefined) {
      access = { address, key, isWarm: false, touchedAt: UNTOUCHED, slots: undefined };
      this.accesses.set(key, access);
    }
    this.last = access;
    this.lastAddress = address;
    return access;
  }

  private setTouched(access: Access, touchedAt: number): void {
    this.note(access, "touch", undefined);
    access.touchedAt = touchedAt;
  }

  private isSinceCheckpoint(touchedAt: number): boolean {
    return touchedAt >= (this.checkpoints.at(-1) ?? 0);
  }

  private note(access: Access, kind: Undo["kind"], slot: string | undefined): void {
    if (this.checkpoints.length > 0) this.log.push({ kind, access, slot, touchedAt: access.touchedAt });
  }

  private undo({ kind, access, slot, touchedAt }: Undo): void {
    switch (kind) {
      case "warm":
        access.isWarm = false;
        this.forget(access);
        return;
      case "slot":
        access.slots?.delete(expectDefined(slot, "the slot of a journal entry"));
        return;
      case "touch":
        access.touchedAt = touchedAt;
        if (touchedAt !== UNTOUCHED) this.remember(access);
        return;
      default:
        assertNever(kind);
    }
  }

  /** Lists an address again that is touched after all: it was removed when its touch was forgotten. */
  private remember(access: Access): void {
    this.accesses.set(access.key, access);
    this.lastAddress = undefined;
  }

  /** Removes an address that is no longer warm or touched, so that the next access lists it in its place. */
  private forget(access: Access): void {
    if (access.touchedAt !== UNTOUCHED) return;
    this.accesses.delete(access.key);
    this.lastAddress = undefined;
  }
}

/** The record of one account. */
interface Access {
  readonly address: Address;
  readonly key: string;
  isWarm: boolean;
  /** Number of log entries, dropped ones included, when the account was touched; or one of the two marks below. */
  touchedAt: number;
  slots: Set<string> | undefined;
}

interface Undo {
  readonly kind: "warm" | "slot" | "touch";
  readonly access: Access;
  readonly slot: string | undefined;
  /** The previous `touchedAt` of the account. */
  readonly touchedAt: number;
}

const UNTOUCHED = -2;
/** Mark of an account that was touched outside of all checkpoints. */
const OUTSIDE = -1;
