import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { BlockSession, loadInterpreter } from "../../src/execution/blockSession.ts";
import { executeTransaction, type TransactionOutcome } from "../../src/execution/executeTransaction.ts";
import { OutOfTime, type YieldPolicy } from "../../src/execution/yieldPolicy.ts";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { JournaledOverlay, type Overlay } from "../../src/state/overlay.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { anOverlay, contractAt, slotOf, theRules } from "./context.ts";

/** Writes 1 into as many slots as the call's data says, and then reverts. */
const REVERTER = contractAt(1);
/** Likewise, and then halts. */
const HALTER = contractAt(2);
/** Calls REVERTER with the call's data, and writes what CALL returns, plus 7, into slot 0. */
const CALLER = contractAt(3);
/** Sends nothing to the accounts from 2^128 plus as many as the call's data says down to 2^128 plus 1. */
const TOUCHER = contractAt(4);

const SLOTS = 70_000;
const TOUCHED = 20_000;
/** Changes that are undone without a pause. */
const MOST_AT_ONCE = 20_000;

// count; JUMPDEST at 3: SSTORE of 1; subtract 1; jump back unless 0
const WRITE = "6000355b600181556001900380600357";
const CALL = `6000600060206000600073${hexOf(REVERTER)}5af1`;
const ACCOUNTS: readonly (readonly [Address, { readonly code?: string }])[] = [
  [REVERTER, { code: `0x${WRITE}60006000fd` }],
  [HALTER, { code: `0x${WRITE}fe` }],
  [CALLER, { code: `0x600035600052${CALL}60070160005500` }],
  // count; JUMPDEST at 3: call the account at 2^128 plus the count; pop; subtract 1; jump back unless 0
  [TOUCHER, { code: `0x6000355b600060006000600060008570${"01".padEnd(34, "0")}015af150600190038060035700` }],
  [touchedAccount(TOUCHED), {}],
  [touchedAccount(1), {}],
];

beforeAll(loadInterpreter);
afterEach(() => {
  vi.restoreAllMocks();
});

describe("what takes long to undo or to clear", () => {
  it.each([
    { what: "a nested message that reverts", to: CALLER, outcome: "succeeded" },
    { what: "a message that reverts", to: REVERTER, outcome: "reverted" },
    { what: "a message that halts", to: HALTER, outcome: "halted" },
  ])("$what is undone in parts, and other work runs in between", async ({ to, outcome }) => {
    const overlay = anOverlay(ACCOUNTS);
    const events = recordParts();
    const executed = await execute(overlay, to, SLOTS, () => events.push("other work"));
    expect(executed).toMatchObject({ ok: true, value: { outcome: { kind: outcome } } });
    expectPauses(events);
    expect(overlay.storage(CALLER, slotOf(0))).toEqual(to === CALLER ? Uint8Array.of(7) : new Uint8Array(0));
    expect(overlay.storage(REVERTER, slotOf(1)).length + overlay.storage(HALTER, slotOf(1)).length).toBe(0);
    expect(overlay.changes().accounts.flatMap(({ slots }) => slots).length).toBe(to === CALLER ? 1 : 0);
  });

  it("a transaction that is stopped in the middle is undone in parts, with turns of the event loop in between", async () => {
    const overlay = anOverlay(ACCOUNTS);
    const before = overlay.changes();
    const events = recordParts();
    let isOver = false;
    const turning = (async () => {
      for (; !isOver; await nextTurn()) events.push("other work");
    })();
    await expect(
      execute(overlay, HALTER, SLOTS, () => {
        if (overlay.changeCount > SLOTS - 1_000) throw new OutOfTime("enough");
      }),
    ).rejects.toThrow("enough");
    isOver = true;
    await turning;
    expectPauses(events);
    expect(overlay.changes()).toEqual(before);
  });

  it("touched accounts are looked at in parts, and the empty ones are deleted", async () => {
    const overlay = anOverlay(ACCOUNTS);
    const [first, last] = [touchedAccount(TOUCHED), touchedAccount(1)];
    let wasInTheMiddle = false;
    const executed = await execute(overlay, TOUCHER, TOUCHED, () => {
      wasInTheMiddle ||= overlay.account(first) === undefined && overlay.account(last) !== undefined;
    });
    expect(executed).toMatchObject({ ok: true, value: { outcome: { kind: "succeeded" } } });
    expect([overlay.account(first), overlay.account(last)]).toEqual([undefined, undefined]);
    expect(wasInTheMiddle).toBe(true);
  });
});

/** Executes a call with a number as data. It is always time to yield. */
async function execute(
  overlay: Overlay,
  to: Address,
  count: number,
  onYield: () => void,
): Promise<TransactionOutcome> {
  const rules = theRules("london", { gasLimit: 2n ** 53n });
  const yieldPolicy: YieldPolicy = {
    isDue: () => true,
    yield: async () => {
      await nextTurn();
      onYield();
    },
  };
  overlay.beginTransaction();
  const session = new BlockSession({ ...rules, overlay, yieldPolicy });
  const data = bigintToFixedBytes(BigInt(count), 32);
  return executeTransaction(
    session,
    aTransaction({ to, data, value: 0n, gasPrice: 0n, gasLimit: 10_000_000_000n }),
  );
}

/** Records each undoing of as many changes as are undone at once. */
function recordParts(): string[] {
  const events: string[] = [];
  const { revertPart } = JournaledOverlay.prototype;
  vi.spyOn(JournaledOverlay.prototype, "revertPart").mockImplementation(function (
    this: JournaledOverlay,
    most: number,
  ) {
    const isPart = revertPart.call(this, most);
    if (isPart) events.push(`${most}`);
    return isPart;
  });
  return events;
}

function expectPauses(events: readonly string[]): void {
  const parts = events.flatMap((event, at) => (event === "other work" ? [] : [{ event, at }]));
  expect(parts.length).toBeGreaterThanOrEqual(Math.floor(SLOTS / MOST_AT_ONCE));
  for (const { event, at } of parts) {
    expect(event).toBe(`${MOST_AT_ONCE}`);
    expect(events[at + 1]).toBe("other work");
  }
}

function touchedAccount(count: number): Address {
  return asAddress(bigintToFixedBytes(2n ** 128n + BigInt(count), 20));
}

function hexOf(address: Address): string {
  return Buffer.from(address).toString("hex");
}
