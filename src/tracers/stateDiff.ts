import { toHex, toWordHex } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import type { Account } from "../types/account.ts";
import { type Member, sortedObjectOf } from "./traceText.ts";
import type { WatchedOverlay, WrittenAccount } from "./watchedOverlay.ts";

/**
 * JSON of the state changes of a transaction (json-rpc.md#state-differences); accounts and slots are sorted.
 */
export function stateDiffJson(state: WatchedOverlay): string {
  const accounts: Member[] = [];
  for (const written of state.written()) {
    const diff = accountDiff(state, written);
    if (diff !== undefined) accounts.push([toHex(written.address), diff]);
  }
  return sortedObjectOf(accounts);
}

function accountDiff(state: WatchedOverlay, written: WrittenAccount): string | undefined {
  const { address, before } = written;
  const after = state.account(address);
  if (before === undefined && after === undefined) return undefined;
  const compare = (read: (account: Account) => string): string =>
    diffNode(before && read(before), after && read(after));
  const balance = compare((account) => toQuantity(account.balance));
  const code = compare((account) => toHex(state.code(account.codeHash)));
  const nonce = compare((account) => toQuantity(account.nonce));
  const storage = after === undefined ? "{}" : storageDiff(state, written);
  const isSame = balance === SAME && code === SAME && nonce === SAME && storage === "{}";
  return isSame ? undefined : `{"balance":${balance},"code":${code},"nonce":${nonce},"storage":${storage}}`;
}

/** An unset slot counts as zero, except in a new account, where it is absent. */
function storageDiff(state: WatchedOverlay, { address, before, slots }: WrittenAccount): string {
  const changed: Member[] = [];
  for (const { slot, before: valueBefore } of slots.values()) {
    const old = toWordHex(valueBefore);
    const value = toWordHex(state.storage(address, slot));
    if (old === value) continue;
    changed.push([toHex(slot), diffNode(before === undefined ? undefined : old, value)]);
  }
  return sortedObjectOf(changed);
}

function diffNode(before: string | undefined, after: string | undefined): string {
  if (before === after) return SAME;
  if (before === undefined) return `{"+":"${after}"}`;
  if (after === undefined) return `{"-":"${before}"}`;
  return `{"*":{"from":"${before}","to":"${after}"}}`;
}

const SAME = '"="';
