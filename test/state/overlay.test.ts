import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { EMPTY_BYTES, toDigits } from "../../src/primitives/hex.ts";
import { JournaledOverlay, type Overlay } from "../../src/state/overlay.ts";
import type { StateReader } from "../../src/state/stateReader.ts";
import { type Account, EMPTY_ACCOUNT } from "../../src/types/account.ts";
import { casesOf } from "../thorough.ts";

const NON_EMPTY_ROOT = keccak256(Uint8Array.of(1));

describe("overlay", () => {
  it("reads and reports like a model that copies the whole state at each checkpoint", () => {
    fc.assert(
      fc.property(fc.array(action(), { minLength: 1, maxLength: 120 }), (actions) => {
        const overlay = new JournaledOverlay(BASE);
        const model = new Model();
        for (const step of actions) {
          perform(overlay, model, step);
          expectSameReads(overlay, model);
          expectCounted(overlay, model);
        }
        while (model.depth > 0) {
          overlay.revert();
          model.revert();
        }
        expectSameReads(overlay, model);
        expectCounted(overlay, model);
        expect(rebuilt(overlay)).toEqual(model.accounts);
        const { accounts } = overlay.changes();
        const reported = accounts.reduce((sum, { slots }) => sum + 1 + slots.length, 0);
        expect(overlay.changeCount).toBeGreaterThanOrEqual(reported);
      }),
      { numRuns: casesOf(300) },
    );
  });

  it("reports nothing when every change was undone", () => {
    const overlay = new JournaledOverlay(BASE);
    overlay.checkpoint();
    overlay.putAccount(addressOf(0), { ...EMPTY_ACCOUNT, balance: 5n });
    overlay.putStorage(addressOf(0), slotOf(0), Uint8Array.of(9));
    overlay.clearStorage(addressOf(1));
    expect(overlay.changeCount).toBe(3);
    overlay.revert();
    expect(overlay.changeCount).toBe(0);
    overlay.putStorage(addressOf(0), slotOf(1), Uint8Array.of(7));
    expect(overlay.changeCount).toBe(2);
    overlay.putStorage(addressOf(0), slotOf(1), EMPTY_BYTES);
    expect(overlay.changeCount).toBe(0);
    expect(overlay.changes()).toEqual({ accounts: [], code: [] });
  });

  it("keeps the original value of a slot in a transaction, through clearing and reverts", () => {
    const overlay = new JournaledOverlay(BASE);
    const [address, slot] = [addressOf(1), slotOf(0)];
    const before = overlay.storage(address, slot);
    expect(before.length).toBeGreaterThan(0);
    overlay.beginTransaction();
    overlay.checkpoint();
    overlay.putStorage(address, slot, Uint8Array.of(1));
    overlay.checkpoint();
    overlay.clearStorage(address);
    overlay.putStorage(address, slot, Uint8Array.of(2));
    expect(overlay.originalStorage(address, slot)).toEqual(before);
    overlay.revert();
    expect(overlay.storage(address, slot)).toEqual(Uint8Array.of(1));
    expect(overlay.originalStorage(address, slot)).toEqual(before);
    overlay.commit();
    overlay.beginTransaction();
    expect(overlay.originalStorage(address, slot)).toEqual(Uint8Array.of(1));
  });

  it("reports code once, and only code that an account still has", () => {
    const overlay = new JournaledOverlay(BASE);
    const kept = Uint8Array.of(0x60, 0x01);
    overlay.checkpoint();
    overlay.putCode(addressOf(2), Uint8Array.of(0x60, 0x02));
    overlay.revert();
    overlay.putCode(addressOf(2), kept);
    overlay.putCode(addressOf(3), kept);
    expect(overlay.changes().code).toEqual([{ codeHash: keccak256(kept), code: kept }]);
    expect(overlay.code(keccak256(kept))).toEqual(kept);
  });

  it("reports any number of changes in steps", () => {
    const overlay = new JournaledOverlay(BASE);
    const count = 5_000;
    overlay.putAccount(addressOf(0), { ...EMPTY_ACCOUNT, nonce: 1n });
    for (let n = 0; n < count; n++) {
      overlay.putStorage(addressOf(0), numberedBytes(n, 32), Uint8Array.of(1));
      overlay.putAccount(asAddress(numberedBytes(n, 20)), { ...EMPTY_ACCOUNT, nonce: 1n });
    }
    const steps = overlay.changesInSteps();
    let taken = 0;
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) {
        expect(value).toEqual(overlay.changes());
        expect(value.accounts.length).toBe(count + 1);
        expect(value.accounts[0]?.slots.length).toBe(count);
        break;
      }
      taken++;
    }
    expect(taken).toBeGreaterThanOrEqual(8);
  });

  it("can be based on another overlay and reports only its own changes", () => {
    const lower = new JournaledOverlay(BASE);
    lower.clearStorage(addressOf(1));
    lower.putAccount(addressOf(4), { ...EMPTY_ACCOUNT, nonce: 1n });
    const upper = new JournaledOverlay(lower);
    expect(upper.hasStorage(addressOf(1))).toBe(false);
    upper.putStorage(addressOf(4), slotOf(2), Uint8Array.of(3));
    expect(upper.changes().accounts.map((change) => toDigits(change.address))).toEqual([
      toDigits(addressOf(4)),
    ]);
    expect(lower.storage(addressOf(4), slotOf(2))).toEqual(EMPTY_BYTES);
  });
});

/** Two accounts exist below, the second with storage; the rest are absent. */
const ADDRESSES = 5;
const SLOTS = 3;
const BASE: StateReader = {
  account: (address) => {
    if (address[19] === 0) return { ...EMPTY_ACCOUNT, balance: 100n };
    if (address[19] === 1) return { ...EMPTY_ACCOUNT, nonce: 1n, storageRoot: NON_EMPTY_ROOT };
    return undefined;
  },
  storage: (address, slot) =>
    address[19] === 1 && slot[31] !== 2 ? Uint8Array.of(0x11, slot[31] ?? 0) : EMPTY_BYTES,
  code: () => EMPTY_BYTES,
};

type Action =
  | { readonly kind: "checkpoint" | "commit" | "revert" | "begin" }
  | { readonly kind: "account"; readonly who: number; readonly balance: bigint | undefined }
  | { readonly kind: "slot"; readonly who: number; readonly slot: number; readonly value: number }
  | { readonly kind: "clear"; readonly who: number };

function action(): fc.Arbitrary<Action> {
  const who = fc.nat(ADDRESSES - 1);
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant<Action>({ kind: "checkpoint" }) },
    { weight: 1, arbitrary: fc.constant<Action>({ kind: "commit" }) },
    { weight: 2, arbitrary: fc.constant<Action>({ kind: "revert" }) },
    { weight: 1, arbitrary: fc.constant<Action>({ kind: "begin" }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("account" as const),
        who,
        balance: fc.option(fc.bigInt(0n, 3n), { nil: undefined }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("slot" as const),
        who,
        slot: fc.nat(SLOTS - 1),
        value: fc.nat(3),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("clear" as const), who }) },
  );
}

interface ModelState {
  [address: string]: { account: Account; slots: Record<string, string> };
}

/** The same rules in the simplest form. */
class Model {
  accounts: ModelState = baseState();
  atTransaction: ModelState = baseState();
  private readonly saved: ModelState[] = [];

  get depth(): number {
    return this.saved.length;
  }
  checkpoint(): void {
    this.saved.push(structuredClone(this.accounts));
  }
  commit(): void {
    this.saved.pop();
  }
  revert(): void {
    this.accounts = this.saved.pop() ?? this.accounts;
  }
}

function baseState(): ModelState {
  const accounts: ModelState = {};
  for (let who = 0; who < ADDRESSES; who++) {
    const account = BASE.account(addressOf(who));
    if (account === undefined) continue;
    const slots: Record<string, string> = {};
    for (let slot = 0; slot < SLOTS; slot++) {
      const value = BASE.storage(addressOf(who), slotOf(slot));
      if (value.length > 0) slots[toDigits(slotOf(slot))] = toDigits(value);
    }
    accounts[toDigits(addressOf(who))] = { account: structuredClone(account), slots };
  }
  return accounts;
}

function perform(overlay: Overlay, model: Model, step: Action): void {
  switch (step.kind) {
    case "checkpoint":
      overlay.checkpoint();
      model.checkpoint();
      return;
    case "commit":
    case "revert":
      if (model.depth === 0) return;
      // A revert may be done in parts.
      if (step.kind === "revert" && overlay.revertPart(1)) overlay.revertPart(2);
      overlay[step.kind]();
      model[step.kind]();
      return;
    case "begin":
      if (model.depth > 0) return;
      overlay.beginTransaction();
      model.atTransaction = structuredClone(model.accounts);
      return;
    case "account":
      performAccount(overlay, model, step.who, step.balance);
      return;
    case "slot": {
      const state = model.accounts[toDigits(addressOf(step.who))];
      if (state === undefined) return;
      const value = step.value === 0 ? EMPTY_BYTES : Uint8Array.of(step.value);
      overlay.putStorage(addressOf(step.who), slotOf(step.slot), value);
      if (step.value === 0) delete state.slots[toDigits(slotOf(step.slot))];
      else state.slots[toDigits(slotOf(step.slot))] = toDigits(value);
      return;
    }
    case "clear": {
      overlay.clearStorage(addressOf(step.who));
      const state = model.accounts[toDigits(addressOf(step.who))];
      if (state !== undefined) state.slots = {};
    }
  }
}

function performAccount(overlay: Overlay, model: Model, who: number, balance: bigint | undefined): void {
  const key = toDigits(addressOf(who));
  if (balance === undefined) {
    overlay.putAccount(addressOf(who), undefined);
    delete model.accounts[key];
    return;
  }
  const account = { ...(overlay.account(addressOf(who)) ?? EMPTY_ACCOUNT), balance };
  overlay.putAccount(addressOf(who), account);
  model.accounts[key] = { account: structuredClone(account), slots: model.accounts[key]?.slots ?? {} };
}

function expectSameReads(overlay: Overlay, model: Model): void {
  for (let who = 0; who < ADDRESSES; who++) {
    const state = model.accounts[toDigits(addressOf(who))];
    expect(overlay.account(addressOf(who))).toEqual(state?.account);
    for (let slot = 0; slot < SLOTS; slot++) {
      const key = toDigits(slotOf(slot));
      expect(toDigits(overlay.storage(addressOf(who), slotOf(slot)))).toBe(state?.slots[key] ?? "");
      expect(toDigits(overlay.originalStorage(addressOf(who), slotOf(slot)))).toBe(
        model.atTransaction[toDigits(addressOf(who))]?.slots[key] ?? "",
      );
    }
    // Emptied slots of the state below still count (see hasStorage), so only one direction holds.
    if (state !== undefined && Object.keys(state.slots).length > 0)
      expect(overlay.hasStorage(addressOf(who))).toBe(true);
    if (state === undefined) expect(overlay.hasStorage(addressOf(who))).toBe(false);
  }
}

/**
 * At every moment the count is at least what differs from the base, except that slots that are gone may count as the one
 * clearing of their storage. What was written back may count as well.
 */
function expectCounted({ changeCount }: Overlay, { accounts }: Model): void {
  const base = baseState();
  let differing = 0;
  let rewritten = 0;
  for (let who = 0; who < ADDRESSES; who++) {
    const [before, after] = [base, accounts].map((state) => state[toDigits(addressOf(who))]);
    const slots = new Set([before, after].flatMap((state) => Object.keys(state?.slots ?? {})));
    // The storage of a deleted account costs nothing beside the account.
    const changed = [...slots].filter(
      (slot) => after !== undefined && before?.slots[slot] !== after.slots[slot],
    );
    const gone = changed.filter((slot) => after?.slots[slot] === undefined);
    const isSame = changed.length === 0 && isDeepStrictEqual(before?.account, after?.account);
    differing += changed.length - gone.length + (isSame ? 0 : 1);
    rewritten += slots.size + 1;
  }
  expect(changeCount).toBeGreaterThanOrEqual(differing);
  expect(changeCount).toBeLessThanOrEqual(rewritten);
}

/** The state that results from applying the overlay's reported changes to the base. */
function rebuilt(overlay: Overlay): ModelState {
  const accounts = baseState();
  for (const { address, account, storageCleared, slots } of overlay.changes().accounts) {
    const key = toDigits(address);
    if (account === undefined) {
      delete accounts[key];
      continue;
    }
    const state = { account, slots: storageCleared ? {} : (accounts[key]?.slots ?? {}) };
    for (const { slot, value } of slots) {
      if (value.length === 0) delete state.slots[toDigits(slot)];
      else state.slots[toDigits(slot)] = toDigits(value);
    }
    accounts[key] = state;
  }
  return accounts;
}

function addressOf(who: number): Address {
  const bytes = new Uint8Array(20);
  bytes[19] = who;
  return asAddress(bytes);
}

function slotOf(index: number): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes[31] = index;
  return bytes;
}

function numberedBytes(number: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length).fill(0xab);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}
