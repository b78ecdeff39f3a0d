import { describe, expect, it } from "vitest";
import { addressFromHex } from "../../src/primitives/address.ts";
import { StructLogs } from "../../src/tracers/structLogs.ts";
import { calling, OTHER, REVERTING, storing, THIRD, type Traced, traced, wordJson } from "./traced.ts";

interface Log {
  readonly op: string;
  readonly depth: number;
  readonly stack: readonly string[] | null;
  readonly memory: readonly string[] | null;
  readonly storage: Readonly<Record<string, string>> | null;
  readonly reason: string | null;
  readonly error?: readonly string[];
}

interface Trace {
  readonly gas: number;
  readonly failed: boolean;
  readonly returnValue: string;
  readonly structLogs: readonly Log[];
}

const ALL = { disableStorage: false, disableMemory: false, disableStack: false };

async function traceOf(transaction: Traced, options = ALL): Promise<Trace> {
  const json = await traced(
    ({ text }) =>
      () => {
        const logs = new StructLogs(options, text);
        return { observer: logs, finish: (result) => logs.finish(result) };
      },
    transaction,
  );
  return JSON.parse(json) as Trace;
}

const word = (value: number): string => wordJson(value).slice(2);

describe("struct logs", () => {
  it("show the stack before an instruction, and the memory after it", async () => {
    const { structLogs } = await traceOf({ code: "602a5f52" });
    expect(structLogs.map(({ op, stack, memory }) => [op, stack, memory])).toEqual([
      ["PUSH1", [], []],
      ["PUSH0", [word(42)], []],
      ["MSTORE", [word(42), word(0)], [word(42)]],
      ["STOP", [], [word(42)]],
    ]);
  });

  it("have null for each part that is left out", async () => {
    for (const [option, part] of [
      ["disableStorage", "storage"],
      ["disableMemory", "memory"],
      ["disableStack", "stack"],
    ] as const) {
      const { structLogs } = await traceOf({ code: storing(1, 2) }, { ...ALL, [option]: true });
      const parts = structLogs.map(({ stack, memory, storage }) => ({ stack, memory, storage }));
      for (const shown of parts)
        expect(Object.entries(shown).filter(([, value]) => value === null)).toEqual([[part, null]]);
    }
  });

  it("show the data of REVERT as a short number, and return nothing for it", async () => {
    const { failed, returnValue, structLogs } = await traceOf({ code: "602a5f5260205ffd" });
    expect([failed, returnValue, structLogs.at(-1)?.reason]).toEqual([true, "", "0x2a"]);
    expect((await traceOf({ code: REVERTING })).structLogs.at(-1)?.reason).toBe("0x");
  });

  it("tell the failure of a creation at the last instruction of its code", async () => {
    const data = Uint8Array.from(Buffer.from("60ef5f5360015ff3", "hex"));
    const { failed, structLogs } = await traceOf({ transaction: { to: undefined, data } });
    expect([failed, structLogs.at(-1)]).toMatchObject([true, { op: "RETURN", error: ["INVALID_CODE"] }]);
  });

  it("show the transaction's own call of a precompiled contract as one log without an instruction", async () => {
    const identity = addressFromHex(`0x${"4".padStart(40, "0")}`);
    const { gas, structLogs } = await traceOf({ transaction: { to: identity, gasLimit: 30_000n } });
    expect([gas, structLogs]).toMatchObject([
      21_015,
      [{ op: "", gas: 30_000 - 21_015, gasCost: 0, depth: 1 }],
    ]);
    const poor = await traceOf({ transaction: { to: identity, gasLimit: 21_014n } });
    expect([poor.failed, poor.structLogs]).toEqual([true, []]);
  });
});

describe("the storage of struct logs", () => {
  /** The slots that each instruction with this name shows, in order. */
  const shownAt = async (op: string, transaction: Traced) =>
    (await traceOf(transaction)).structLogs
      .filter((log) => log.op === op)
      .map(({ storage }) =>
        Object.entries(storage ?? {}).map(
          ([slot, value]) => `${Number(`0x${slot}`)}=${Number(`0x${value}`)}`,
        ),
      );

  it("has what was written so far, sorted, and not what was there before", async () => {
    const accounts = [
      [OTHER, { code: `0x5f5450${storing(2, 1)}${storing(1, 1)}${storing(2, 3)}`, storage: { 0: 7n } }],
    ] as const;
    expect(await shownAt("SSTORE", { accounts, transaction: { to: OTHER } })).toEqual([
      ["2=1"],
      ["1=1", "2=1"],
      ["1=1", "2=3"],
    ]);
  });

  it("takes over what a delegate call wrote, unless it was reverted", async () => {
    const accounts = [
      [OTHER, { code: `0x${storing(1, 1)}` }],
      [THIRD, { code: `0x${storing(2, 2)}${REVERTING}` }],
    ] as const;
    const code = `${calling(OTHER, { by: "f4" })}${calling(THIRD, { by: "f4" })}`;
    expect(await shownAt("POP", { code, accounts })).toEqual([["1=1"], ["1=1"]]);
    // The one that is reverted does not show what its caller had.
    expect(await shownAt("REVERT", { code, accounts })).toEqual([["2=2"]]);
  });

  it("is that of the account whose code runs", async () => {
    const accounts = [[OTHER, { code: `0x${storing(1, 1)}` }]] as const;
    expect(await shownAt("POP", { code: storing(5, 5) + calling(OTHER), accounts })).toEqual([["5=5"]]);
  });

  it("has nothing of a store that failed", async () => {
    const accounts = [[OTHER, { code: `0x${storing(1, 1)}` }]] as const;
    expect(await shownAt("SSTORE", { code: calling(OTHER, { by: "fa" }), accounts })).toEqual([[]]);
  });
});
