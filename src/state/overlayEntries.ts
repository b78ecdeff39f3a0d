import type { Address } from "../primitives/address.ts";
import { assertNever } from "../primitives/assert.ts";
import { equalBytes } from "../primitives/hex.ts";
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
  | { readonly kind: "slot"; readonly cell: SlotCell; readonly value: Uint8Array }
  | {
      readonly kind: "clearing";
      readonly entry: AccountEntry;
      readonly slots: Map<string, SlotCell>;
      readonly cleared: boolean;
      readonly clearing: Clearing | undefined;
    };

export function undo(step: Undo): void {
  switch (step.kind) {
    case "account":
      step.entry.account = step.account;
      return;
    case "slot":
      step.cell.value = step.value;
      return;
    case "clearing":
      step.entry.slots = step.slots;
      step.entry.cleared = step.cleared;
      step.entry.clearing = step.clearing;
      return;
    default:
      assertNever(step);
  }
}

/** The difference of an account from the reader below; undefined when there is none. */
export function changeOf(entry: AccountEntry): AccountChange | undefined {
  const { address, base, account } = entry;
  if (account === undefined)
    return base === undefined ? undefined : { address, storageCleared: true, slots: [] };
  const slots: { slot: Uint8Array; value: Uint8Array }[] = [];
  for (const { slot, base: before, value } of entry.slots.values())
    if (value !== before && !equalBytes(value, before)) slots.push({ slot, value });
  const storageCleared = entry.cleared && base !== undefined;
  if (slots.length === 0 && !storageCleared && sameAccount(base, account)) return undefined;
  return { address, account, storageCleared, slots };
}

function sameAccount(a: Account | undefined, b: Account): boolean {
  if (a === b) return true;
  if (a === undefined) return false;
  return a.nonce === b.nonce && a.balance === b.balance && equalBytes(a.codeHash, b.codeHash);
}
