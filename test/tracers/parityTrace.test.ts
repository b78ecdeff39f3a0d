import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { type ParityForm, type ParityTypes, parityTrace } from "../../src/tracers/parityTrace.ts";
import { account } from "../builders/testAccounts.ts";
import { BENEFICIARY } from "../execution/context.ts";
import {
  CODE,
  calling,
  creating,
  OTHER,
  REVERTING,
  storing,
  THIRD,
  type Traced,
  traced,
  wordJson,
} from "./traced.ts";

interface Result {
  readonly output: string;
  readonly revertReason?: string;
  readonly stateDiff: Readonly<Record<string, AccountDiff>> | null;
  readonly trace: readonly object[];
  readonly vmTrace: object | null;
}

interface AccountDiff {
  readonly storage: object;
}

async function resultOf(transaction: Traced, types: Partial<ParityTypes>, form: ParityForm): Promise<Result> {
  const all = { trace: false, vmTrace: false, stateDiff: false, ...types };
  const json = await traced((output) => (one) => parityTrace(one, all, form, output), transaction);
  return JSON.parse(json) as Result;
}

const [code, other, third] = [CODE, OTHER, THIRD].map(toHex);

describe("flat traces", () => {
  const listed = async (transaction: Traced, form: ParityForm = "call") =>
    (await resultOf(transaction, { trace: true }, form)).trace;

  it("count neither calls of precompiled contracts from code nor calls that could not begin", async () => {
    const identity = "5f5f5f5f5f600461fffff150";
    const accounts = [[OTHER, { code: `0x${calling(THIRD)}73${third?.slice(2)}ff` }]] as const;
    const calls = identity + calling(OTHER, { value: 1 }) + calling(OTHER) + calling(THIRD);
    expect(await listed({ code: calls, accounts })).toMatchObject([
      { action: { to: code }, traceAddress: [], subtraces: 2 },
      { action: { to: other }, traceAddress: [0], subtraces: 2 },
      { action: { to: third }, traceAddress: [0, 0], subtraces: 0 },
      {
        action: { address: other, refundAddress: third },
        type: "suicide",
        traceAddress: [0, 1],
        result: null,
      },
      { action: { to: third }, traceAddress: [1], subtraces: 0 },
    ]);
  });

  it("list no self-destruction that fails", async () => {
    const accounts = [[OTHER, { code: "0x5fff" }]] as const;
    const traces = await listed({ code: calling(OTHER, { by: "fa" }), accounts });
    expect(traces).toMatchObject([{ subtraces: 1 }, { error: "Illegal state change", subtraces: 0 }]);
  });

  it("have the data of a revert at the root alone, and for a mined transaction beside the result", async () => {
    const accounts = [[OTHER, { code: "0x602a5f5260205ffd" }]] as const;
    const transaction = { code: `${calling(OTHER)}602b5f5260205ffd`, accounts };
    const [call, replay] = [
      await resultOf(transaction, { trace: true }, "call"),
      await resultOf(transaction, { trace: true }, "replay"),
    ];
    for (const { trace } of [call, replay]) {
      expect(trace).toMatchObject([
        { error: "Reverted", revertReason: wordJson(0x2b) },
        { error: "Reverted" },
      ]);
      expect(trace[1]).not.toHaveProperty("revertReason");
    }
    expect(call).toMatchObject({ output: wordJson(0x2b) });
    expect(call).not.toHaveProperty("revertReason");
    expect(replay).toMatchObject({ output: "0x", revertReason: wordJson(0x2b) });
  });

  it("name one method for all creations of a mined transaction: CREATE2 where one of them was", async () => {
    const methods = async (creations: string, form: ParityForm) =>
      (await listed({ code: creations }, form))
        .slice(1)
        .map((trace) => (trace as { action: { creationMethod?: string } }).action.creationMethod);
    expect(await methods(creating("00") + creating("00"), "replay")).toEqual(["create", "create"]);
    expect(await methods(creating("00") + creating("00", 1), "replay")).toEqual(["create2", "create2"]);
    expect(await methods(creating("00") + creating("00", 1), "call")).toEqual([undefined, undefined]);
  });
});

describe("a state difference", () => {
  const differenceOf = async (transaction: Traced) =>
    (await resultOf(transaction, { stateDiff: true }, "call")).stateDiff ?? {};

  it("tells what was changed, added and deleted, and of each member whether it is the same", async () => {
    const accounts = [
      [
        CODE,
        {
          balance: 5n,
          code: `0x${storing(1, 2)}${storing(2, 0)}${storing(3, 9)}${calling(THIRD, { value: 5 })}${calling(OTHER)}`,
          storage: { 1: 1n, 2: 7n },
        },
      ],
      [OTHER, { balance: 1n, code: `0x73${third?.slice(2)}ff`, storage: { 1: 1n } }],
    ] as const;
    const difference = await differenceOf({ accounts, fork: "shanghai" });
    const changed = (from: string, to: string) => ({ "*": { from, to } });
    expect(Object.keys(difference)).toEqual([code, other, third, toHex(account(0).address)]);
    expect(difference[code ?? ""]).toEqual({
      balance: changed("0x5", "0x0"),
      code: "=",
      nonce: "=",
      storage: {
        [wordJson(1)]: changed(wordJson(1), wordJson(2)),
        [wordJson(2)]: changed(wordJson(7), wordJson(0)),
        [wordJson(3)]: changed(wordJson(0), wordJson(9)),
      },
    });
    expect(difference[other ?? ""]).toMatchObject({
      balance: { "-": "0x1" },
      nonce: { "-": "0x0" },
      storage: {},
    });
    expect(difference[third ?? ""]).toEqual({
      balance: { "+": "0x6" },
      code: { "+": "0x" },
      nonce: { "+": "0x0" },
      storage: {},
    });
  });

  it("shows slots of a new account as added", async () => {
    const accounts = Object.values(await differenceOf({ code: creating(storing(1, 2)) }));
    const [added] = accounts.filter(({ storage }) => Object.keys(storage).length > 0);
    expect(added).toMatchObject({ nonce: { "+": "0x1" }, storage: { [wordJson(1)]: { "+": wordJson(2) } } });
  });

  it("leaves out what has its old value again, and what was reverted", async () => {
    const accounts = [
      [CODE, { code: `0x${storing(1, 2)}${storing(1, 1)}${calling(OTHER)}`, storage: { 1: 1n } }],
      [OTHER, { code: `0x${storing(1, 2)}${REVERTING}` }],
    ] as const;
    const difference = await differenceOf({ accounts });
    expect(Object.keys(difference)).toEqual([toHex(account(0).address)]);
    expect(difference).not.toHaveProperty(toHex(BENEFICIARY));
  });
});

it("what is not asked for is empty", async () => {
  expect(await resultOf({ code: calling(OTHER) }, {}, "call")).toEqual({
    output: "0x",
    stateDiff: null,
    trace: [],
    vmTrace: null,
  });
});

it("all of them at once are those that each alone is", async () => {
  const transaction = {
    code: calling(OTHER) + creating(storing(1, 2)),
    accounts: [[OTHER, { code: "0x5fff" }]] as const,
  };
  const whole = await resultOf(transaction, { trace: true, vmTrace: true, stateDiff: true }, "replay");
  for (const type of ["trace", "vmTrace", "stateDiff"] as const)
    expect((await resultOf(transaction, { [type]: true }, "replay"))[type]).toEqual(whole[type]);
});
