import { expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { type OtterscanTrace, otterscanTrace } from "../../src/tracers/otterscanTraces.ts";
import { CODE, calling, creating, OTHER, THIRD, type Traced, traced } from "./traced.ts";

async function shown(kind: OtterscanTrace, transaction: Traced): Promise<unknown> {
  return JSON.parse(await traced((output) => () => otterscanTrace(kind, output), transaction));
}

/** Reverts with the word 42. */
const REVERTING_WITH_DATA = "602a5f5260205ffd";

/** A call that is reverted, calls of which nothing is left out, a precompiled contract, and a call that cannot be paid for. */
const accounts = [
  [
    CODE,
    {
      balance: 3n,
      code: `0x${[
        calling(OTHER, { value: 1 }),
        calling(THIRD, { by: "f4" }),
        creating("00"),
        creating("00", 1),
        "5f5f5f5f5f600461fffff150",
        calling(OTHER, { value: 9 }),
      ].join("")}`,
    },
  ],
  [OTHER, { code: `0x73${toHex(THIRD).slice(2)}ff` }],
  [THIRD, { code: `0x${calling(OTHER)}${REVERTING_WITH_DATA}` }],
] as const;
const [code, other, third] = [CODE, OTHER, THIRD].map(toHex);

it("calls come in their order, what was undone included, without precompiled contracts and calls that could not begin", async () => {
  expect(await shown("calls", { accounts })).toMatchObject([
    { type: "CALL", depth: 0, to: code, value: "0x0" },
    { type: "CALL", depth: 1, from: code, to: other, value: "0x1" },
    { type: "SELFDESTRUCT", depth: 2, from: other, to: third, value: "0x1" },
    {
      type: "DELEGATECALL",
      depth: 1,
      from: code,
      to: third,
      value: null,
      output: expect.stringMatching(/2a$/),
    },
    { type: "CALL", depth: 2, from: code, to: other, value: "0x0" },
    { type: "SELFDESTRUCT", depth: 3, from: other, to: third, value: "0x0" },
    { type: "CREATE", depth: 1, from: code, input: "0x00", value: "0x0" },
    { type: "CREATE2", depth: 1, from: code, input: "0x00", value: "0x0" },
  ]);
});

it("operations are what moved ether, self-destructed and created, by number, without the transaction itself", async () => {
  const transaction = { value: 1n };
  expect(await shown("operations", { accounts, transaction })).toMatchObject([
    { type: 0, from: code, to: other, value: "0x1" },
    { type: 1, from: other, to: third, value: "0x1" },
    { type: 1, from: other, to: third, value: "0x0" },
    { type: 2, from: code, value: "0x0" },
    { type: 3, from: code, value: "0x0" },
  ]);
});

it("the error is the data of a revert, and nothing for another end", async () => {
  expect(await shown("error", { code: REVERTING_WITH_DATA })).toBe(`0x${"2a".padStart(64, "0")}`);
  expect(await shown("error", { code: "fe" })).toBe("0x");
  expect(await shown("error", { code: "602a5f5260205ff3" })).toBe("0x");
});

it("a creation by a transaction counts as a call", async () => {
  const transaction = { to: undefined };
  expect(await shown("calls", { transaction })).toMatchObject([{ type: "CALL", depth: 0 }]);
  expect(await shown("operations", { transaction })).toEqual([]);
});
