import { afterEach, describe, expect, it, vi } from "vitest";
import { Substate } from "../../../src/execution/interpreter/substate.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { anOverlay, contractAt, executed } from "../context.ts";

const CALLER = contractAt(1);
const CALLEE = contractAt(2);

describe("the substate of a transaction", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([
    { name: "logs", each: "60006000a0", callee: "00" },
    { name: "destroyed accounts", each: destroyNext(), callee: "00" },
    { name: "created accounts", each: "600060006000f050", callee: "00" },
  ])("is not copied at a call: $name", async ({ each, callee }) => {
    const code = `0x${times(500, each)}${times(500, call(CALLEE))}00`;
    const destroyed = Array.from(
      { length: 501 },
      (_, n) => [contractAt(0x10000 + n), { code: "0x32ff" }] as const,
    );
    const overlay = anOverlay([[CALLER, { code }], [CALLEE, { code: `0x${callee}` }], ...destroyed]);
    const transaction = aTransaction({
      to: CALLER,
      value: 0n,
      data: new Uint8Array(0),
      gasLimit: 29_000_000n,
    });
    const copied = countCopies();
    const { outcome } = await executed("cancun", overlay, transaction);
    expect(outcome.kind).toBe("succeeded");
    // Each instruction and each call adds a few; copying 500 elements at each of 500 calls would be 250,000.
    expect(copied()).toBeLessThan(40_000);
  });

  it("excludes the logs of failed frames, and keeps those before", async () => {
    // Logs 1, then calls a contract that logs 2, which calls a third one that logs 3 and fails.
    const third = contractAt(3);
    const log = (topic: number): string => `60${topic.toString(16).padStart(2, "0")}60006000a1`;
    const overlay = anOverlay([
      [CALLER, { code: `0x${log(1)}${call(CALLEE)}${log(4)}${call(third)}${log(5)}00` }],
      [CALLEE, { code: `0x${log(2)}${call(third)}${log(6)}00` }],
      [third, { code: `0x${log(3)}60006000fd` }],
    ]);
    const transaction = aTransaction({
      to: CALLER,
      value: 0n,
      data: new Uint8Array(0),
      gasLimit: 1_000_000n,
    });
    const { logs } = await executed("cancun", overlay, transaction);
    expect(logs.map(({ topics }) => topics.map((topic) => Number(toHex(topic))))).toEqual([
      [1],
      [2],
      [6],
      [4],
      [5],
    ]);
  });

  it("can be reverted to any mark", () => {
    const substate = new Substate();
    substate.destroyed.set("0x01", "0x02");
    substate.created.add("0x03");
    const mark = substate.mark();
    substate.destroyed.set("0x01", "0x04");
    substate.destroyed.set("0x05", "0x06");
    substate.created.add("0x03").add("0x07");
    substate.revertTo(mark);
    expect([...substate.destroyed.keys()]).toEqual(["0x01"]);
    expect([...substate.created]).toEqual(["0x03"]);
    substate.created.add("0x07");
    substate.revertTo(mark);
    expect([...substate.created]).toEqual(["0x03"]);
  });
});

/** Counts the elements added to maps, sets and concatenated lists from now on. */
function countCopies(): () => number {
  let copied = 0;
  const { set } = Map.prototype;
  const { add } = Set.prototype;
  const { concat } = Array.prototype;
  vi.spyOn(Map.prototype, "set").mockImplementation(function (this: Map<unknown, unknown>, key, value) {
    copied++;
    return set.call(this, key, value);
  });
  vi.spyOn(Set.prototype, "add").mockImplementation(function (this: Set<unknown>, value) {
    copied++;
    return add.call(this, value);
  });
  vi.spyOn(Array.prototype, "concat").mockImplementation(function (this: unknown[], ...parts) {
    copied += this.length;
    return concat.apply(this, parts);
  });
  return () => copied;
}

/** Repeats `body`, with the number of the repetition in place of NNNN. */
function times(count: number, body: string): string {
  return Array.from({ length: count }, (_, n) =>
    body.replaceAll("NNNN", n.toString(16).padStart(4, "0")),
  ).join("");
}

/** Calls one of the accounts that destroy themselves. */
function destroyNext(): string {
  const digits = toHex(contractAt(0x10000)).slice(2, -4);
  return `6000600060006000600073${digits}NNNN5af150`;
}

function call(address: Uint8Array): string {
  return `6000600060006000600073${toHex(address).slice(2)}5af150`;
}
