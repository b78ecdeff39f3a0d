import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { aChain } from "../../builders/aChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { tracerOf } from "../../builders/tracerOf.ts";
import { type Ask, askerOf } from "../asker.ts";

const RICH = toHex(account(0).address);
const NOBODY = `0x${"de".repeat(20)}`;
const IDENTITY = `0x${"4".padStart(40, "0")}`;

/** Code that returns the word which `opcodes` leave on the stack. */
function returning(opcodes: string): string {
  return `0x${opcodes}60005260206000f3`;
}

function word(value: number | bigint): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

let ask: Ask;

beforeAll(async () => {
  const node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
  ask = askerOf({ ...node, tracer: tracerOf(node.chain, node.spec) });
});

describe("overrides of a traced call", () => {
  const trace = (options: object) =>
    ask("debug_traceCall", { from: RICH, to: NOBODY, data: "0x1234" }, "latest", options);
  const output = async (options: object) =>
    ((await trace({ tracer: "callTracer", ...options })) as { output?: string }).output;

  it("give accounts code, balance and storage, and change the block", async () => {
    const code = (opcodes: string, more: object = {}) => ({
      stateOverrides: { [NOBODY]: { code: returning(opcodes), ...more } },
    });
    expect(await output({})).toBeUndefined();
    expect(await output(code("602a"))).toBe(word(42));
    expect(await output(code("47", { balance: "0x7" }))).toBe(word(7));
    expect(await output(code("600054", { stateDiff: { [word(0)]: word(3) } }))).toBe(word(3));
    const head = (await ask("eth_getBlockByNumber", "latest", false)) as { hash: string };
    const seen: readonly (readonly [string, object, string])[] = [
      ["43", { number: "0x64" }, word(100)],
      ["42", { time: "0x77777777" }, word(0x77777777)],
      ["41", { feeRecipient: RICH }, word(BigInt(RICH))],
      ["600040", { number: "0x1" }, head.hash],
    ];
    for (const [opcode, blockOverrides, expected] of seen)
      expect(await output({ ...code(opcode), blockOverrides })).toBe(expected);
    const steps = (await trace(code("602a"))) as { structLogs: unknown[]; returnValue: string };
    expect(steps.structLogs.length).toBeGreaterThan(4);
    expect(`0x${steps.returnValue}`).toBe(word(42));
  });

  it("are the state before the call for the prestate tracer", async () => {
    const stateOverrides = { [NOBODY]: { balance: "0x7", nonce: "0x3" } };
    const before = await trace({ tracer: "prestateTracer", stateOverrides });
    expect(before).toMatchObject({ [NOBODY]: { balance: "0x7", nonce: 3 } });
  });

  it("move precompiled contracts, or say why not", async () => {
    const move = (from: string) => ({ stateOverrides: { [from]: { movePrecompileToAddress: NOBODY } } });
    expect(await output(move(IDENTITY))).toBe("0x1234");
    expect(await trace(move(RICH))).toEqual({ code: -32000, message: `account ${RICH} is not a precompile` });
  });

  it("are refused when they make no sense, and ignored where there is no object", async () => {
    const invalid = { code: -32602, message: "Invalid params" };
    for (const bad of [{ stateOverrides: { zz: {} } }, { blockOverrides: { number: "-1" } }])
      expect(await trace(bad), JSON.stringify(bad)).toEqual(invalid);
    for (const nothing of [7, "x", [], null])
      expect(await output({ stateOverrides: nothing, blockOverrides: nothing })).toBeUndefined();
  });
});
