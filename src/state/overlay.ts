import type { Address } from "../primitives/address.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import { keyOfAddress, keyOfSlot, toKey } from "../primitives/byteKey.ts";
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, type Hash, keccak256 } from "../primitives/hash.ts";
import { EMPTY_BYTES, equalBytes } from "../primitives/hex.ts";
import { atOnce, type Steps } from "../primitives/steps.ts";
import { type Account, EMPTY_ACCOUNT } from "../types/account.ts";
import {
  type AccountEntry,
  changedSlotsInSteps,
  changeOf,
  changesOf,
  isChanged,
  type SlotCell,
  type Undo,
  undo,
} from "./overlayEntries.ts";
import type { AccountChange, StateChanges } from "./stateChanges.ts";
import type { StateReader } from "./stateReader.ts";

/**
 * In-memory writes over a reader, with an undo journal: a checkpoint is free, a revert costs as much as the changes made
 * since. Nothing reaches the disk from here; a block in execution is one overlay, dropped or committed as a whole.
 */
export interface Overlay extends StateReader {
  /** Writes an account; undefined deletes it and, with it, its storage. */
  putAccount(address: Address, account: Account | undefined): void;
  /** `value` has no leading zeros; an empty one clears the slot. */
  putStorage(address: Address, slot: Uint8Array, value: Uint8Array): void;
  /**
   * Stores code and sets the account's codeHash (the account is created when absent). The caller passes the hash, which it
   * has already derived.
   */
  putCode(address: Address, code: Uint8Array, codeHash?: Hash): void;
  /** Drops all slots of the account, those on disk included. */
  clearStorage(address: Address): void;
  /**
   * True when the account has any storage (EIP-7610: a creation at its address fails). Slots of the state below count
   * until the whole storage is cleared, even when writes here emptied each of them.
   */
  hasStorage(address: Address): boolean;
  codeSize(codeHash: Hash): number;
  checkpoint(): void;
  commit(): void;
  revert(): void;
  /** Undoes the newest changes since the last checkpoint, `most` at most, and keeps it open; true while more are left. */
  revertPart(most: number): boolean;
  /** Value the slot had when the current transaction began (EIP-2200, EIP-3529). */
  originalStorage(address: Address, slot: Uint8Array): Uint8Array;
  /** Marks the beginning of a transaction for originalStorage. No checkpoint may be open. */
  beginTransaction(): void;
  /** Number of accounts and slots that differ from the reader below; an account that was written back counts. */
  readonly changeCount: number;
  /** Everything that differs from the reader below. No checkpoint may be open. */
  changes(): StateChanges;
  changesInSteps(): Steps<StateChanges>;
}

/** Counts the memory of an overlay, for work with a memory limit: `take` throws above the limit. */
export interface MemoryMeter {
  take(bytes: number): void;
  release(bytes: number): void;
}

/** What an overlay can be based on: a stored state, or another overlay (a candidate built on a candidate). */
type OverlayBase = StateReader & Partial<Pick<Overlay, "hasStorage">>;

/** Upper bounds of the memory for an account, a slot and an undo step, with the EVM's record of their accesses. */
const ACCOUNT_BYTES = 1000;
const SLOT_BYTES = 700;
const UNDO_BYTES = 300;
/** Memory that the EVM needs for code that it runs, as a multiple of the code's size. */
const CODE_FACTOR = 10;

/** Accounts and slots that are compared in a step: less than a millisecond. */
const STEP_CHANGES = 1024;

/** Placeholder for the slots of an account before the first access: most accounts have none. Never written. */
const NO_SLOTS = new Map<string, SlotCell>();

function codeHashOf(code: Uint8Array): Hash {
  return code.length === 0 ? EMPTY_CODE_HASH : keccak256(code);
}

/**
 * The overlay of a block in execution, the hottest object of the node: the EVM reads each balance, slot and code through
 * it. Accounts are keyed by address, slots by their key inside the account; values read from below are kept, so that each
 * is read once. Without an open checkpoint nothing is journaled, because nothing can be undone. It keeps the caller's byte
 * arrays without a copy: the caller must not change them. The meter, if given, counts memory.
 */
export class JournaledOverlay implements Overlay {
  private readonly below: OverlayBase;
  private readonly meter: MemoryMeter | undefined;
  private readonly entries = new Map<string, AccountEntry>();
  /** The map is created on first use: few overlays hold new code. */
  private newCode: Map<string, Uint8Array> | undefined = undefined;
  private readonly journal: Undo[] = [];
  /** Length of the journal at each open checkpoint. */
  private readonly checkpoints: number[] = [];
  private transaction = 0;
  private changed = 0;
  /**
   * The last lookups, by the identity of the caller's bytes: an instruction looks up its slot several times, code uses
   * mostly slots of one account, and a transfer two accounts in turn.
   */
  private lastAddress: Address | undefined = undefined;
  private lastEntry: AccountEntry | undefined = undefined;
  private earlierAddress: Address | undefined = undefined;
  private earlierEntry: AccountEntry | undefined = undefined;
  private lastSlot: Uint8Array | undefined = undefined;
  private lastSlots: ReadonlyMap<string, SlotCell> = NO_SLOTS;
  private lastCell: SlotCell | undefined = undefined;

  constructor(below: OverlayBase, meter?: MemoryMeter) {
    this.below = below;
    this.meter = meter;
  }

  account(address: Address): Account | undefined {
    return this.entry(address).account;
  }

  storage(address: Address, slot: Uint8Array): Uint8Array {
    return this.cell(this.entry(address), slot).value;
  }

  code(codeHash: Hash): Uint8Array {
    return this.newCode?.get(toKey(codeHash)) ?? this.below.code(codeHash);
  }

  codeSize(codeHash: Hash): number {
    const size = this.newCode?.get(toKey(codeHash))?.length ?? this.below.codeSize?.(codeHash);
    return size ?? this.below.code(codeHash).length;
  }

  get changeCount(): number {
    return this.changed;
  }

  hasStorage(address: Address): boolean {
    const entry = this.entry(address);
    if (entry.account === undefined) return false;
    for (const cell of entry.slots.values()) if (cell.value.length > 0) return true;
    if (entry.cleared || entry.base === undefined) return false;
    return this.below.hasStorage?.(address) ?? !equalBytes(entry.base.storageRoot, EMPTY_TRIE_ROOT);
  }

  originalStorage(address: Address, slot: Uint8Array): Uint8Array {
    const entry = this.entry(address);
    const clearing = entry.clearing;
    if (clearing === undefined || clearing.transaction !== this.transaction)
      return this.originalOf(this.cell(entry, slot));
    const hidden = clearing.slots.get(keyOfSlot(slot));
    if (hidden !== undefined) return this.originalOf(hidden);
    return this.hasSlotsBelow(entry, clearing.cleared) ? this.below.storage(address, slot) : EMPTY_BYTES;
  }

  putAccount(address: Address, account: Account | undefined): void {
    const entry = this.entry(address);
    if (account === undefined) this.clearEntry(entry);
    this.setAccount(entry, account);
  }

  putStorage(address: Address, slot: Uint8Array, value: Uint8Array): void {
    assert(value[0] !== 0, "a storage value is written without leading zeros");
    const entry = this.entry(address);
    assert(entry.account !== undefined, "storage belongs to an account that exists");
    const cell = this.cell(entry, slot);
    if (this.checkpoints.length > 0 && !this.isNoted(cell)) {
      const { length } = this.journal;
      this.note({ kind: "slot", entry, cell, value: cell.value });
      cell.notedAt = length;
    }
    if (cell.writtenIn !== this.transaction) {
      cell.original = cell.value;
      cell.writtenIn = this.transaction;
    }
    const before = changesOf(entry);
    if (isChanged(cell)) entry.changedSlots--;
    cell.value = value;
    if (isChanged(cell)) entry.changedSlots++;
    this.changed += changesOf(entry) - before;
  }

  putCode(address: Address, code: Uint8Array, codeHash = codeHashOf(code)): void {
    const entry = this.entry(address);
    // Code of a reverted creation stays here without effect: changes() only reports code that an account has.
    if (code.length > 0) {
      this.meter?.take(code.length * CODE_FACTOR);
      this.newCode ??= new Map();
      this.newCode.set(toKey(codeHash), code);
    }
    this.setAccount(entry, { ...(entry.account ?? EMPTY_ACCOUNT), codeHash });
  }

  clearStorage(address: Address): void {
    this.clearEntry(this.entry(address));
  }

  checkpoint(): void {
    this.checkpoints.push(this.journal.length);
  }

  commit(): void {
    assert(this.checkpoints.pop() !== undefined, "a commit needs an open checkpoint");
    if (this.checkpoints.length === 0 && this.journal.length > 0) {
      this.meter?.release(this.journal.length * UNDO_BYTES);
      this.journal.length = 0;
    }
  }

  revert(): void {
    this.revertPart(Number.POSITIVE_INFINITY);
    this.checkpoints.pop();
  }

  revertPart(most: number): boolean {
    const length = expectDefined(this.checkpoints.at(-1), "an open checkpoint to revert to");
    const until = Math.max(length, this.journal.length - most);
    this.meter?.release((this.journal.length - until) * UNDO_BYTES);
    for (let at = this.journal.length; at > until; at--) {
      const step = expectDefined(this.journal.pop(), "a journal entry");
      const before = changesOf(step.entry);
      undo(step);
      this.changed += changesOf(step.entry) - before;
    }
    return until > length;
  }

  beginTransaction(): void {
    assert(this.checkpoints.length === 0, "a transaction begins outside of all checkpoints");
    this.transaction++;
  }

  changes(): StateChanges {
    return atOnce(this.changesInSteps());
  }

  *changesInSteps(): Steps<StateChanges> {
    assert(this.checkpoints.length === 0, "changes are final only when no checkpoint is open");
    const accounts: AccountChange[] = [];
    const code: { codeHash: Hash; code: Uint8Array }[] = [];
    const named = new Set<string>();
    let work = 0;
    for (const entry of this.entries.values()) {
      work += 1 + entry.slots.size;
      if (work > STEP_CHANGES) {
        work = 0;
        yield;
      }
      const change =
        entry.slots.size > STEP_CHANGES
          ? changeOf(entry, yield* changedSlotsInSteps(entry))
          : changeOf(entry);
      if (change === undefined) continue;
      accounts.push(change);
      if (change.account === undefined || this.newCode === undefined) continue;
      const key = toKey(change.account.codeHash);
      const bytes = this.newCode.get(key);
      if (bytes === undefined || named.has(key)) continue;
      named.add(key);
      code.push({ codeHash: change.account.codeHash, code: bytes });
    }
    return { accounts, code };
  }

  private entry(address: Address): AccountEntry {
    if (address === this.lastAddress && this.lastEntry !== undefined) return this.lastEntry;
    const entry =
      address === this.earlierAddress && this.earlierEntry !== undefined
        ? this.earlierEntry
        : this.findEntry(address);
    this.earlierAddress = this.lastAddress;
    this.earlierEntry = this.lastEntry;
    this.lastAddress = address;
    this.lastEntry = entry;
    return entry;
  }

  private findEntry(address: Address): AccountEntry {
    const key = keyOfAddress(address);
    const known = this.entries.get(key);
    if (known !== undefined) return known;
    this.meter?.take(ACCOUNT_BYTES);
    const base = this.below.account(address);
    const entry: AccountEntry = {
      address,
      base,
      account: base,
      slots: NO_SLOTS,
      changedSlots: 0,
      cleared: false,
      clearing: undefined,
    };
    this.entries.set(key, entry);
    return entry;
  }

  private cell(entry: AccountEntry, slot: Uint8Array): SlotCell {
    // The map of slots belongs to one account, and is replaced when its storage is cleared.
    if (slot === this.lastSlot && entry.slots === this.lastSlots && this.lastCell !== undefined)
      return this.lastCell;
    const cell = this.findCell(entry, slot);
    this.lastSlot = slot;
    this.lastSlots = entry.slots;
    this.lastCell = cell;
    return cell;
  }

  private findCell(entry: AccountEntry, slot: Uint8Array): SlotCell {
    const key = keyOfSlot(slot);
    const known = entry.slots.get(key);
    if (known !== undefined) return known;
    this.meter?.take(SLOT_BYTES);
    const base = this.hasSlotsBelow(entry, entry.cleared)
      ? this.below.storage(entry.address, slot)
      : EMPTY_BYTES;
    const cell: SlotCell = { slot, base, value: base, original: base, writtenIn: -1, notedAt: -1 };
    if (entry.slots === NO_SLOTS) entry.slots = new Map();
    entry.slots.set(key, cell);
    return cell;
  }

  private hasSlotsBelow(entry: AccountEntry, cleared: boolean): boolean {
    return !cleared && entry.base !== undefined;
  }

  private originalOf(cell: SlotCell): Uint8Array {
    return cell.writtenIn === this.transaction ? cell.original : cell.value;
  }

  private setAccount(entry: AccountEntry, account: Account | undefined): void {
    if (this.checkpoints.length > 0) this.note({ kind: "account", entry, account: entry.account });
    const before = changesOf(entry);
    entry.account = account;
    this.changed += changesOf(entry) - before;
  }

  /** Whether the journal already has the cell's value since the last checkpoint, so that every possible revert restores it. */
  private isNoted(cell: SlotCell): boolean {
    if (cell.notedAt < (this.checkpoints.at(-1) ?? 0)) return false;
    const step = this.journal[cell.notedAt];
    return step?.kind === "slot" && step.cell === cell;
  }

  private note(step: Undo): void {
    this.meter?.take(UNDO_BYTES);
    this.journal.push(step);
  }

  private clearEntry(entry: AccountEntry): void {
    const { slots, changedSlots, cleared, clearing } = entry;
    if (this.checkpoints.length > 0)
      this.note({ kind: "clearing", entry, slots, changedSlots, cleared, clearing });
    if (clearing?.transaction !== this.transaction)
      entry.clearing = { transaction: this.transaction, slots, cleared };
    const before = changesOf(entry);
    entry.slots = NO_SLOTS;
    entry.changedSlots = 0;
    entry.cleared = true;
    this.changed += changesOf(entry) - before;
  }
}
