import { describe, expect, it } from "vitest";
import type { ForkName } from "../../../src/chainspec/forks.ts";
import { BlockSession } from "../../../src/execution/blockSession.ts";
import type { MessageResult } from "../../../src/execution/evm.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { bytesToBigint } from "../../../src/primitives/quantity.ts";
import { account } from "../../builders/testAccounts.ts";
import { anOverlay, contractAt, theRules } from "../context.ts";

const AT = contractAt(1);
const OTHER = contractAt(2);

interface Setting {
  readonly fork?: ForkName;
  /** Code of the second contract. */
  readonly other?: string;
  readonly data?: Uint8Array;
  readonly stackLimit?: number;
  readonly gasLimit?: bigint;
}

/** Runs code, in hex. */
async function run(code: string, setting: Setting = {}): Promise<MessageResult> {
  const { fork = "cancun", other = "00", data = new Uint8Array(0), stackLimit = 1024 } = setting;
  const overlay = anOverlay([
    [AT, { code: `0x${code}` }],
    [OTHER, { code: `0x${other}` }],
  ]);
  overlay.beginTransaction();
  const rules = theRules(fork);
  const config = { ...rules.config, stackLimit };
  const session = new BlockSession({ ...rules, config, overlay, yieldPolicy: NEVER_YIELD });
  return session.evm.run({
    caller: account(0).address,
    to: AT,
    value: 0n,
    data,
    gasLimit: setting.gasLimit ?? 10_000_000n,
    gasPrice: 0n,
    blobVersionedHashes: [],
  });
}

const CALL_OTHER = `5f5f5f5f5f73${toHex(OTHER).slice(2)}5af1`;
/** Returns the word on the stack. */
const RETURN_WORD = "5f5260205ff3";

describe("return data", () => {
  it("survives the growth of the caller's memory, behind which the callee left it", async () => {
    // The callee returns 64 bytes of ones. The caller's memory grows in steps, then it copies them.
    const other = "5f195f525f1960205260405ff3";
    const code = `${CALL_OTHER}506001610400526001610900526001620100005260405f5f3e60205160015f51${"01"}${"01"}${RETURN_WORD}`;
    const { outcome, output } = await run(code, { other });
    expect(outcome.kind).toBe("succeeded");
    // Twice the highest word, and one.
    expect(BigInt.asIntN(256, bytesToBigint(output))).toBe(-1n);
  });

  it("is that of the last call, and empty after one that cannot begin", async () => {
    const other = "60205ff3";
    const tooRich = `5f5f5f5f6001${"73"}${toHex(OTHER).slice(2)}5af1`;
    const { output } = await run(`${CALL_OTHER}503d${tooRich}503d6001${"01"}01${RETURN_WORD}`, { other });
    expect(bytesToBigint(output)).toBe(33n);
  });
});

describe("memory", () => {
  it("of each frame begins empty, wherever others have been", async () => {
    // The callee returns the sum of two words of its memory, after it filled both.
    const other = `6040516108005101${"5f19604052"}${"5f1961080052"}${RETURN_WORD}`;
    const { output } = await run(`${CALL_OTHER}50${CALL_OTHER}5060205f5f3e5f51${RETURN_WORD}`, { other });
    expect(bytesToBigint(output)).toBe(0n);
  });
});

describe("a stack", () => {
  it("holds as many words as the chain allows", async () => {
    const pushes = (count: number): string => "5f".repeat(count);
    expect((await run(pushes(1024))).outcome.kind).toBe("succeeded");
    expect((await run(pushes(1025))).outcome).toEqual({ kind: "halted", reason: "TOO_MANY_STACK_ITEMS" });
    expect((await run(pushes(2000), { stackLimit: 2000 })).outcome.kind).toBe("succeeded");
    expect((await run(pushes(2001), { stackLimit: 2000 })).outcome.kind).toBe("halted");
  });
});

describe("a creation", () => {
  it("runs init code that begins with 0xEF, which halts it and takes its gas", async () => {
    // CREATE of the two bytes 0xef00 in memory.
    const { gasUsed, output } = await run(`61ef005f5260026${"01e"}5ff0${RETURN_WORD}`);
    expect(bytesToBigint(output)).toBe(0n);
    expect(gasUsed).toBeGreaterThan(9_000_000n);
  });
});

it("more gas than 63 bits hold is as good as any", async () => {
  const { outcome, gasUsed } = await run("6001600201", { gasLimit: 2n ** 64n - 1n });
  expect(outcome.kind).toBe("succeeded");
  expect(gasUsed).toBe(9n);
});

describe("lengths that no gas pays for", () => {
  const most = `7f${"ff".repeat(32)}`;
  it.each([
    ["KECCAK256", `${most}5f20`, 30n],
    ["CALLDATACOPY", `${most}5f5f37`, 3n],
    ["CODECOPY", `${most}5f5f39`, 3n],
    ["RETURNDATACOPY", `${most}5f5f3e`, 3n],
    ["EXTCODECOPY", `${most}5f5f5f3c`, 100n],
    ["MCOPY", `${most}5f5f5e`, 3n],
    ["LOG0", `${most}5fa0`, 375n],
    ["LOG4", `5f5f5f5f${most}5fa4`, 1875n],
    ["CREATE", `${most}5f5ff0`, 32_000n],
    ["CREATE2", `5f${most}5f5ff5`, 32_000n],
    ["RETURN", `${most}5ff3`, 0n],
    ["REVERT", `${most}5ffd`, 0n],
    ["CALL", `5f5f${most}5f5f305af1`, 100n],
  ])("halt %s, whether or not its fixed price leaves gas", async (_, code, price) => {
    // PUSH0 costs 2, each other instruction before it 3 or, for ADDRESS and GAS, 2.
    const before = 3n + 2n * BigInt(code.replace(most, "").length / 2 - 1);
    for (const left of [-1n, 0n, 1n, 2n ** 62n - 1n, 2n ** 62n, 2n ** 62n + 1n]) {
      const gasLimit = before + price + left;
      const { outcome, gasUsed } = await run(code, { gasLimit });
      expect([left, outcome]).toEqual([
        left,
        {
          kind: "halted",
          reason: expect.stringMatching(/^(INSUFFICIENT_GAS|INVALID_RETURN_DATA_BUFFER_ACCESS)$/),
        },
      ]);
      expect(gasUsed).toBe(gasLimit);
    }
  });
});
