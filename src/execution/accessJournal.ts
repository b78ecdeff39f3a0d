import type { Address } from "../primitives/address.ts";
import { assert, assertNever, expectDefined } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { precompileAddress } from "./precompiles/addresses.ts";

/**
 * What one transaction has accessed and touched: warm addresses and slots (EIP-2929), and accounts that are deleted if
 * they end up empty (EIP-161). Has an undo log like the overlay's and is checkpointed together with it.
 */
export class AccessJournal {
  private readonly warmSlots = new Map<string, Set<string>>();
  private readonly touchedAccounts = new Map<string, Address>();
  private readonly log: Undo[] = [];
  private readonly checkpoints: number[] = [];
  private readonly alwaysWarm: ReadonlySet<string>;

  /** `alwaysWarm` holds the keys of the precompiled contracts. */
  constructor(alwaysWarm: ReadonlySet<string>) {
    this.alwaysWarm = alwaysWarm;
  }

  isWarm(address: Uint8Array): boolean {
    const key = toKey(address);
    return this.warmSlots.has(key) || this.alwaysWarm.has(key);
  }

  /** Warms an address; true if it was cold. */
  warm(address: Uint8Array): boolean {
    const key = toKey(address);
    if (this.warmSlots.has(key)) return false;
    this.slotsOf(key);
    return !this.alwaysWarm.has(key);
  }

  isWarmSlot(address: Uint8Array, slot: Uint8Array): boolean {
    return this.warmSlots.get(toKey(address))?.has(toKey(slot)) ?? false;
  }

  /** Warms a slot; true if it was cold. */
  warmSlot(address: Uint8Array, slot: Uint8Array): boolean {
    const slots = this.slotsOf(toKey(address));
    const key = toKey(slot);
    if (slots.has(key)) return false;
    slots.add(key);
    if (this.checkpoints.length > 0) this.log.push({ kind: "slot", slots, key });
    return true;
  }

  touch(address: Address): void {
    const key = toKey(address);
    if (this.touchedAccounts.has(key)) return;
    this.touchedAccounts.set(key, address);
    // A revert does not undo touching the RIPEMD-160 precompile: block 2,675,119 of mainnet made that a rule.
    if (this.checkpoints.length > 0 && key !== RIPEMD160_KEY) this.log.push({ kind: "touch", key });
  }

  touched(): Iterable<Address> {
    return this.touchedAccounts.values();
  }

  /** Warm slots by address, both as keys (byteKey.ts). Omits addresses without a warm slot. */
  *warmStorage(): Iterable<readonly [address: string, slots: ReadonlySet<string>]> {
    for (const entry of this.warmSlots) if (entry[1].size > 0) yield entry;
  }

  checkpoint(): void {
    this.checkpoints.push(this.log.length);
  }

  commit(): void {
    assert(this.checkpoints.pop() !== undefined, "a commit needs an open checkpoint");
    if (this.checkpoints.length === 0) this.log.length = 0;
  }

  revert(): void {
    const length = expectDefined(this.checkpoints.pop(), "an open checkpoint to revert to");
    for (let at = this.log.length; at > length; at--)
      this.undo(expectDefined(this.log.pop(), "a journal entry"));
  }

  /** Clears everything for the next transaction. */
  clear(): void {
    assert(this.checkpoints.length === 0, "a transaction ends outside of all checkpoints");
    this.warmSlots.clear();
    this.touchedAccounts.clear();
  }

  private slotsOf(address: string): Set<string> {
    let slots = this.warmSlots.get(address);
    if (slots === undefined) {
      slots = new Set();
      this.warmSlots.set(address, slots);
      if (this.checkpoints.length > 0) this.log.push({ kind: "address", key: address });
    }
    return slots;
  }

  private undo(step: Undo): void {
    switch (step.kind) {
      case "address":
        this.warmSlots.delete(step.key);
        return;
      case "slot":
        step.slots.delete(step.key);
        return;
      case "touch":
        this.touchedAccounts.delete(step.key);
        return;
      default:
        assertNever(step);
    }
  }
}

type Undo =
  | { readonly kind: "address"; readonly key: string }
  | { readonly kind: "slot"; readonly slots: Set<string>; readonly key: string }
  | { readonly kind: "touch"; readonly key: string };

const RIPEMD160_KEY = toKey(precompileAddress(3));
