import { beforeAll, describe, expect, it } from "vitest";
import { aChain } from "../builders/aChain.ts";
import { genesisWith } from "../builders/genesisWith.ts";
import { tracerOf } from "../builders/tracerOf.ts";
import { type Ask, requesterOf } from "../rpc/requester.ts";

/** The cost that struct logs show for an instruction that halted, from Besu's code where no recording has the case. */

const CALLEE = `0x${"ce".repeat(20)}`;
const OTHER = `73${"f0".repeat(20)}`;

interface StructLog {
  readonly op: string;
  readonly gas: number;
  readonly gasCost: number;
  readonly error?: readonly string[];
}

let ask: Ask;

beforeAll(async () => {
  const node = await aChain({ genesis: genesisWith({}) });
  ask = requesterOf({ ...node, tracer: tracerOf(node.chain, node.spec) });
});

/** The struct log of the instruction that halts in this code, when the code is called with `opcode`. */
async function haltOf(code: string, opcode: "fa" | "f4", gas?: string): Promise<StructLog> {
  const data = `0x5f5f5f5f73${CALLEE.slice(2)}62ffffff${opcode}`;
  const stateOverrides = { [CALLEE]: { code: `0x${code}`, balance: "0x5" } };
  const call = gas === undefined ? { data } : { to: CALLEE, gas };
  const traced = (await ask("debug_traceCall", call, "latest", { stateOverrides, disableStack: true })) as {
    structLogs: StructLog[];
  };
  const halted = traced.structLogs.find(({ error }) => error !== undefined);
  expect(halted, code).toBeDefined();
  return halted as StructLog;
}

describe("an instruction that a static call forbids", () => {
  it.each([
    ["LOG1", "5f60205fa1", 375 + 375 + 32 * 8 + 3],
    ["SELFDESTRUCT", `${OTHER}ff`, 5000 + 2600 + 25_000],
    ["CREATE", "5f5f5ff0", 32_000],
  ])("%s costs its price", async (op, code, price) => {
    expect(await haltOf(code, "fa")).toMatchObject({ op, gasCost: price, error: ["ILLEGAL_STATE_CHANGE"] });
  });

  it.each([
    ["SSTORE", "5f5f55"],
    ["TSTORE", "5f5f5d"],
  ])("%s costs all remaining gas", async (op, code) => {
    const { gas, ...halted } = await haltOf(code, "fa");
    expect(halted).toMatchObject({ op, gasCost: gas, error: ["ILLEGAL_STATE_CHANGE"] });
  });

  it.each(["a0", "ff", "f0", "f5", "5fa0"])(
    "costs nothing when the stack is too short as well: %s",
    async (code) => {
      expect(await haltOf(code, "fa")).toMatchObject({ gasCost: 0 });
    },
  );

  it("CALL costs its price for a warm account, and all remaining gas", async () => {
    const { gas, gasCost } = await haltOf(`5f5f5f5f6001${OTHER}5ff1`, "fa");
    expect(gasCost - gas).toBe(100 + 9000 + 25_000);
  });
});

describe("a stack that is too short", () => {
  it.each([
    ["ADD", "01", 0],
    ["EQ", "14", 3],
    ["CALLDATALOAD", "35", 3],
    ["BLOCKHASH", "40", 20],
    ["SHL", "1b", 3],
    ["MLOAD", "51", 0],
    ["SSTORE", "55", 0],
    ["CREATE", "f0", 0],
  ])("costs %s its price only when Besu checks the price first", async (op, code, gasCost) => {
    expect(await haltOf(code, "f4")).toMatchObject({ op, gasCost, error: ["INSUFFICIENT_STACK_ITEMS"] });
  });

  it("costs a call all remaining gas", async () => {
    const { gas, gasCost } = await haltOf("f4", "f4");
    expect(gasCost).toBe(gas);
  });
});

describe("too little gas", () => {
  const gas = (left: number) => `0x${(21_000 + left).toString(16)}`;

  it.each([
    ["ADD", "01", 2, 0],
    ["EQ", "14", 2, 3],
    ["PUSH1", "6000", 2, 3],
    ["JUMP", "5f56", 2 + 7, 8],
    ["PUSH1", `${"5f".repeat(1024)}6000`, 2 * 1024 + 2, 0],
    ["ADDRESS", `${"5f".repeat(1024)}30`, 2 * 1024 + 1, 2],
    ["SSTORE", "60015f55", 5 + 2301, 22_100],
    ["SSTORE", "5f5f55", 4 + 2300, 2300],
  ])("costs %s what Besu shows, also with a stack error (%#)", async (op, code, left, gasCost) => {
    expect(await haltOf(code, "f4", gas(left))).toMatchObject({ op, gasCost, error: ["INSUFFICIENT_GAS"] });
  });
});

describe("a call that cannot be paid for", () => {
  it("costs its price, and all remaining gas", async () => {
    const { op, gas, gasCost, error } = await haltOf(`5f5f5f5f${OTHER}5ffa`, "f4", "0x5500");
    expect([op, error]).toEqual(["STATICCALL", ["INSUFFICIENT_GAS"]]);
    expect(gasCost - gas).toBe(2600);
  });

  it("is shown by vmTrace with its caller's code when the caller is the top level", async () => {
    const call = { data: `0x5f5f5f5f${OTHER}5ffa`, gas: "0xd200" };
    const { vmTrace } = (await ask("trace_call", call, ["vmTrace"])) as {
      vmTrace: { code: string; ops: { cost: number; ex: object; sub: object | null }[] };
    };
    const [before, last] = vmTrace.ops.slice(-2);
    expect(last).toMatchObject({ ex: { used: 0, push: [] }, sub: { code: call.data, ops: [] } });
    expect(before?.ex).toMatchObject({ used: last?.cost });
  });
});

describe("memory that costs more than the gas limit", () => {
  const words = 2 ** 27;
  const price = 3 * words + words ** 2 / 512;
  it.each([
    ["MSTORE", "5f63ffffffe052", 3],
    ["MLOAD", "63ffffffe051", 3],
    ["MSTORE8", "5f63ffffffff53", 3],
    ["KECCAK256", "6401000000005f20", 30 + 6 * words],
    ["LOG0", "6401000000005fa0", 375 + 8 * 32 * words],
    ["CALLDATACOPY", "6401000000005f5f37", 3 + 3 * words],
    ["RETURN", "6401000000005ff3", 0],
    ["REVERT", "6401000000005ffd", 0],
    ["CREATE", "6401000000005f5ff0", 32_000 + 2 * words],
    ["STATICCALL", `6401000000005f5f5f${OTHER}5ffa`, 2600],
  ])("is priced without being allocated: %s", async (op, code, rest) => {
    const { gas, ...halted } = await haltOf(code, "f4");
    const left = op === "STATICCALL" ? gas : 0;
    expect(halted).toMatchObject({ op, gasCost: price + rest + left, error: ["INSUFFICIENT_GAS"] });
  });
});
