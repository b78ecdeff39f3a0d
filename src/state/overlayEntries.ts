import type { Address } from "../primitives/address.ts";
import { assertNever } from "../primitives/assert.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Steps } from "../primitives/steps.ts";
import type { Account } from "../types/account.ts";
import type { AccountChange } from "./stateChanges.ts";

/** An account of an overlay, as it is now and in the reader below. */
export interface AccountEntry {
  readonly address: Address;
  /** The account in the reader below. */
  readonly base: Account | undefined;
  account: Account | undefined;
  /** Slots read or written since the last clearing. */
  slots: Map<string, SlotCell>;
  /** Number of slots that differ from the reader below. */
  changedSlots: number;
  /** True when the slots of the reader below are no longer visible. */
  cleared: boolean;
  /** The transaction that first cleared the storage, and the slots before: originalStorage still reads them. */
  clearing: Clearing | undefined;
}

interface Clearing {
  readonly transaction: number;
  readonly slots: Map<string, SlotCell>;
  readonly cleared: boolean;
}

export interface SlotCell {
  readonly slot: Uint8Array;
  /** Value in the reader below, or empty when the storage had been cleared before the cell was made. */
  readonly base: Uint8Array;
  value: Uint8Array;
  /** Value before the first write of transaction `writtenIn`. */
  original: Uint8Array;
  writtenIn: number;
  /** Journal index of its last noted value; stale once that step is undone or dropped. */
  notedAt: number;
}

/** The record that reverts one change. */
export type Undo =
  | { readonly kind: "account"; readonly entry: AccountEntry; readonly account: Account | undefined }
  | {
      readonly kind: "slot";
      readonly entry: AccountEntry;
      readonly cell: SlotCell;
      readonly value: Uint8Array;
    }
  | {
      readonly kind: "clearing";
      readonly entry: AccountEntry;
      readonly slots: Map<string, SlotCell>;
      readonly changedSlots: number;
      readonly cleared: boolean;
      readonly clearing: Clearing | undefined;
    };

export function undo(step: Undo): void {
  switch (step.kind) {
    case "account":
      step.entry.account = step.account;
      return;
    case "slot": {
      const { entry, cell, value } = step;
      if (isChanged(cell)) entry.changedSlots--;
      cell.value = value;
      if (isChanged(cell)) entry.changedSlots++;
      return;
    }
    case "clearing":
      step.entry.slots = step.slots;
      step.entry.changedSlots = step.changedSlots;
      step.entry.cleared = step.cleared;
      step.entry.clearing = step.clearing;
      return;
    default:
      assertNever(step);
  }
}

/** Whether a slot differs from the reader below. */
export function isChanged({ base, value }: SlotCell): boolean {
  return value !== base && !equalBytes(value, base);
}

/** Number of slots of an account that differ from the reader below, and one for the account if anything of it does. */
export function changesOf({ base, account, changedSlots, cleared }: AccountEntry): number {
  const isSame = changedSlots === 0 && account === base && (!cleared || base === undefined);
  return changedSlots + (isSame ? 0 : 1);
}

/** The difference of an account from the reader below; undefined when there is none. */
export function changeOf(entry: AccountEntry, slots = changedSlots(entry)): AccountChange | undefined {
  const { address, base, account } = entry;
  if (account === undefined)
    return base === undefined ? undefined : { address, storageCleared: true, slots: [] };
  const storageCleared = entry.cleared && base !== undefined;
  if (slots.length === 0 && !storageCleared && sameAccount(base, account)) return undefined;
  return { address, account, storageCleared, slots };
}

function changedSlots({ slots }: AccountEntry): AccountChange["slots"] {
  const changed: SlotChange[] = [];
  for (const cell of slots.values())
    if (isChanged(cell)) changed.push({ slot: cell.slot, value: cell.value });
  return changed;
}

/** The slots of an account that differ from the reader below, for any number of them. */
export function* changedSlotsInSteps({ slots }: AccountEntry): Steps<AccountChange["slots"]> {
  const changed: SlotChange[] = [];
  let compared = 0;
  for (const cell of slots.values()) {
    if (++compared % STEP_SLOTS === 0) yield;
    if (isChanged(cell)) changed.push({ slot: cell.slot, value: cell.value });
  }
  return changed;
}

type SlotChange = AccountChange["slots"][number];

/** Slots that are compared in a step: less than a millisecond. */
const STEP_SLOTS = 1024;

function sameAccount(a: Account | undefined, b: Account): boolean {
  if (a === b) return true;
  if (a === undefined) return false;
  return a.nonce === b.nonce && a.balance === b.balance && equalBytes(a.codeHash, b.codeHash);
}
