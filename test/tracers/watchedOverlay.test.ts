import { expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { bigintToBytes } from "../../src/primitives/quantity.ts";
import { WatchedOverlay } from "../../src/tracers/watchedOverlay.ts";
import { EMPTY_ACCOUNT } from "../../src/types/account.ts";
import { anOverlay, type ContextAccount, slotOf } from "../execution/context.ts";
import { CODE, OTHER } from "./traced.ts";

function watched(own: ContextAccount): WatchedOverlay {
  const overlay = anOverlay([[CODE, own]]);
  overlay.beginTransaction();
  return new WatchedOverlay(overlay);
}

const withBalance = (balance: bigint) => ({ ...EMPTY_ACCOUNT, balance });
const value = (n: number): Uint8Array => bigintToBytes(BigInt(n));
const before = (state: WatchedOverlay, slot: number): string =>
  toHex(state.storageBefore(CODE, slotOf(slot)));

it("an account and a slot are as before the transaction, however often they are written", () => {
  const state = watched({ balance: 1n, storage: { 1: 10n } });
  for (const n of [2, 3]) {
    state.putAccount(CODE, { ...withBalance(BigInt(n)), codeHash: EMPTY_ACCOUNT.codeHash });
    state.putStorage(CODE, slotOf(1), value(n));
    state.putStorage(CODE, slotOf(2), value(n));
  }
  expect([state.account(CODE)?.balance, state.accountBefore(CODE)?.balance]).toEqual([3n, 1n]);
  expect([before(state, 1), before(state, 2)]).toEqual(["0x0a", "0x"]);
  expect(state.accountBefore(OTHER)).toBeUndefined();
});

it("what was reverted counts as written, with its old value", () => {
  const state = watched({ balance: 1n, storage: { 1: 10n } });
  state.checkpoint();
  state.putAccount(OTHER, withBalance(5n));
  state.putStorage(CODE, slotOf(1), value(11));
  state.revert();
  const written = [...state.written()].map(({ address, slots }) => [toHex(address), slots.size]);
  expect(written).toEqual([
    [toHex(OTHER), 0],
    [toHex(CODE), 1],
  ]);
  expect([state.account(OTHER), state.accountBefore(OTHER)]).toEqual([undefined, undefined]);
  expect(toHex(state.storage(CODE, slotOf(1)))).toBe(before(state, 1));
});

it.each([
  ["cleared", (state: WatchedOverlay) => state.clearStorage(CODE)],
  ["deleted with its account", (state: WatchedOverlay) => state.putAccount(CODE, undefined)],
])("slots are as before after the storage was %s, those not written as well", (_, clear) => {
  const state = watched({ balance: 1n, storage: { 1: 10n, 2: 20n } });
  state.putStorage(CODE, slotOf(1), value(11));
  clear(state);
  state.putAccount(CODE, withBalance(1n));
  state.putStorage(CODE, slotOf(2), value(21));
  expect([before(state, 1), before(state, 2), before(state, 3)]).toEqual(["0x0a", "0x14", "0x"]);
  expect(toHex(state.storage(CODE, slotOf(1)))).toBe("0x");
});
