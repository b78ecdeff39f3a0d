import { describe, expect, it } from "vitest";
import type { ForkName } from "../../../src/chainspec/forks.ts";
import { BlockSession } from "../../../src/execution/blockSession.ts";
import type { MessageResult } from "../../../src/execution/evm.ts";
import { NEVER_YIELD, OutOfTime, type YieldPolicy } from "../../../src/execution/yieldPolicy.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { bytesToBigint } from "../../../src/primitives/quantity.ts";
import { account } from "../../builders/testAccounts.ts";
import { anOverlay, contractAt, theRules } from "../context.ts";

const MEGABYTE = 1024 * 1024;
const SIZE = 6 * MEGABYTE;
const AT = contractAt(1);
const OTHER = contractAt(2);
const AMPLE_GAS = 10n ** 12n;
const DATA = Uint8Array.from({ length: 100_000 }, (_, n) => (n * 7) % 251);

/** Init code of a contract of zeros. */
const LONG_CODE = `${push(SIZE)}6000f3`;

/**
 * Code, in hex, that works on 6 MB in one instruction, and the minimum of megabytes that it touches: as memory grows,
 * and as the instruction runs.
 */
const LONG_WORK: readonly { name: string; code: string; megabytes: number; fork?: ForkName }[] = [
  { name: "KECCAK256", code: `${push(SIZE)}600020${returnWord()}`, megabytes: 18 },
  { name: "CALLDATACOPY", code: `${push(SIZE)}60016003${"37"}${digest()}`, megabytes: 24 },
  { name: "CODECOPY", code: `${push(SIZE)}60006007${"39"}${digest()}`, megabytes: 24 },
  { name: "EXTCODECOPY", code: `${push(SIZE)}60006007${address()}3c${digest()}`, megabytes: 24 },
  {
    name: "MCOPY to higher addresses",
    code: `${pattern()}${push(SIZE)}6000${push(777)}5e${digest()}`,
    megabytes: 12,
  },
  {
    name: "MCOPY to lower addresses",
    code: `${pattern()}${push(SIZE)}${push(777)}60005e${digest()}`,
    megabytes: 12,
  },
  { name: "LOG0", code: `60ff6000535960005260fe${push(SIZE - 1)}53${push(SIZE)}6000a000`, megabytes: 12 },
  { name: "RETURN", code: `60ff${push(SIZE - 1)}53${push(SIZE)}6000f3`, megabytes: 12 },
  { name: "REVERT", code: `60ff${push(SIZE - 1)}53${push(SIZE)}6000fd`, megabytes: 12 },
  {
    name: "MSTORE far beyond the end",
    code: `60aa${push(SIZE)}5260bb${push(5 * SIZE)}52${push(5 * SIZE)}51${returnWord()}`,
    megabytes: 30,
  },
  {
    name: "MSTORE8 far beyond the end",
    code: `60aa${push(SIZE)}5360bb${push(5 * SIZE)}53${push(SIZE)}51${returnWord()}`,
    megabytes: 30,
  },
  {
    name: "MLOAD far beyond the end",
    code: `60aa${push(SIZE)}52${push(5 * SIZE)}51${push(SIZE)}51${returnWord()}`,
    megabytes: 30,
  },
  // The callee returns its call data: counts its memory, the output, and the copy of it.
  { name: "RETURNDATACOPY", code: `${call("6000")}50${push(SIZE)}60006007${"3e"}${digest()}`, megabytes: 42 },
  { name: "output of CALL", code: `${call(push(SIZE))}50${digest()}`, megabytes: 42 },
  {
    name: "CREATE2",
    code: `60ff${push(SIZE - 1)}536000${push(SIZE)}60006000f5${returnWord()}`,
    fork: "london",
    // Memory, the copy that runs, and its hash.
    megabytes: 24,
  },
  {
    name: "CREATE2 of code that jumps to its end",
    code: `6462${(SIZE - 1).toString(16)}5660d81b600052605b${push(SIZE - 1)}536000${push(SIZE)}60006000f5${returnWord()}`,
    fork: "london",
    // The search for jump targets, too.
    megabytes: 30,
  },
  // Memory, the hash of the code, and the code itself.
  { name: "CREATE of long code", code: `67${LONG_CODE}600052600860186000f03f${returnWord()}`, megabytes: 18 },
];

describe("instructions that work on megabytes", () => {
  it.each(LONG_WORK)(
    "$name yields after each megabyte, with the same result",
    async ({ fork, code, megabytes }) => {
      const inOneGo = await run(code, NEVER_YIELD, fork);
      let yields = 0;
      const result = await run(
        code,
        alwaysDue(() => yields++),
        fork,
      );
      expect(hashed(result)).toEqual(hashed(inOneGo));
      expect(yields).toBeGreaterThanOrEqual(megabytes);
    },
  );

  it.each(LONG_WORK)("$name ends at the deadline", async ({ fork, code, megabytes }) => {
    let yields = 0;
    const yieldPolicy = alwaysDue(() => {
      if (++yields >= megabytes) throw new OutOfTime("the time for this test is up");
    });
    await expect(run(code, yieldPolicy, fork).then(hashed)).rejects.toThrow(OutOfTime);
  });

  it.each([1, 2])("pass on the output of %i callees without a copy", async (calls) => {
    const code = `${`${call("6000")}50`.repeat(calls)}00`;
    const yieldsWith = async (callee: string): Promise<number> => {
      let yields = 0;
      await run(
        code,
        alwaysDue(() => yields++),
        "cancun",
        callee,
      );
      return yields;
    };
    // This callee copies its call data too, but returns nothing.
    expect(await yieldsWith(ECHO)).toBe(await yieldsWith("36600060003736600000"));
  });

  it("hash, copy and return the right bytes", async () => {
    const zeros = new Uint8Array(SIZE);
    expect(bytesToBigint((await run(LONG_WORK[0]?.code ?? "")).output)).toBe(bytesToBigint(keccak256(zeros)));
    const copied = new Uint8Array(SIZE + 3);
    copied.set(DATA.subarray(1), 3);
    expect(toHex((await run(LONG_WORK[1]?.code ?? "")).output)).toBe(toHex(keccak256(padded(copied))));
    const returned = await run(LONG_WORK[7]?.code ?? "");
    expect(returned.output.length).toBe(SIZE);
    expect(returned.output.at(-1)).toBe(0xff);
    const [log] = (await run(LONG_WORK[6]?.code ?? "")).logs;
    expect(log?.data.length).toBe(SIZE);
    expect(log?.data.at(-1)).toBe(0xfe);
    const created = await run(LONG_WORK.at(-1)?.code ?? "");
    expect(bytesToBigint(created.output)).toBe(bytesToBigint(keccak256(zeros)));
  });
});

describe("code without jumps", () => {
  it("checks the clock every 100,000 gas", async () => {
    // EXP with 32 bytes of exponent: more than 1,600 gas.
    const code = `60ff19${"801960030a50".repeat(4000)}00`;
    let checks = 0;
    const yieldPolicy: YieldPolicy = { isDue: () => ++checks < 0, yield: () => Promise.resolve() };
    const { gasUsed } = await run(code, yieldPolicy);
    expect(checks).toBeGreaterThanOrEqual(Number(gasUsed / 100_000n));
  });

  it("checks it while it is prepared, piece by piece", async () => {
    let checks = 0;
    const yieldPolicy: YieldPolicy = { isDue: () => ++checks < 0, yield: () => Promise.resolve() };
    const { gasUsed } = await run("5b".repeat(500_000), yieldPolicy);
    expect(checks).toBeGreaterThanOrEqual(Number(gasUsed / 10_000n));
  });

  it("checks it between the library's instructions too", async () => {
    // BALANCE of another account each time.
    const code = Array.from({ length: 1000 }, (_, n) => `61${n.toString(16).padStart(4, "0")}3150`).join("");
    let checks = 0;
    const yieldPolicy: YieldPolicy = { isDue: () => ++checks < 0, yield: () => Promise.resolve() };
    const { gasUsed } = await run(code, yieldPolicy);
    expect(checks).toBeGreaterThanOrEqual(Number(gasUsed / 100_000n));
  });
});

/** Returns its call data. */
const ECHO = "366000600037366000f3";

async function run(
  code: string,
  yieldPolicy: YieldPolicy = NEVER_YIELD,
  fork: ForkName = "cancun",
  callee = ECHO,
): Promise<MessageResult> {
  const overlay = anOverlay([
    [AT, { code: `0x${code}` }],
    [OTHER, { code: `0x${callee}` }],
  ]);
  overlay.beginTransaction();
  const rules = theRules(fork);
  const config = { ...rules.config, contractSizeLimitBytes: 2 ** 31 - 1 };
  const { evm } = new BlockSession({ ...rules, config, overlay, yieldPolicy });
  return evm.run({
    caller: account(0).address,
    to: AT,
    value: 0n,
    data: DATA,
    gasLimit: AMPLE_GAS,
    gasPrice: 0n,
    blobVersionedHashes: [],
  });
}

/** Hashes the bytes: the test library takes half a minute to compare megabytes. */
function hashed({ output, logs, ...rest }: MessageResult) {
  return { ...rest, output: toHex(keccak256(output)), logs: logs.map(({ data }) => toHex(keccak256(data))) };
}

/** A policy that is always due. */
function alwaysDue(onYield: () => void): YieldPolicy {
  return {
    isDue: () => true,
    yield: async () => onYield(),
  };
}

function push(value: number): string {
  return `63${value.toString(16).padStart(8, "0")}`;
}

function address(): string {
  return `73${toHex(OTHER).slice(2)}`;
}

/** Calls the other account with 6 MB of memory, whose last byte is 0xff. */
function call(outputSize: string): string {
  return `60ff${push(SIZE - 1)}53${outputSize}6007${push(SIZE)}60006000${address()}5af1`;
}

/** Returns the word on the stack. */
function returnWord(): string {
  return "60005260206000f3";
}

/** Returns the hash of the whole memory. */
function digest(): string {
  return `59600020${returnWord()}`;
}

/** Fills memory with copies of the call data, from the start to beyond 6 MB. */
function pattern(): string {
  const parts: string[] = [];
  for (let at = 0; at <= SIZE + 1000; at += DATA.length) parts.push(`366000${push(at)}37`);
  return parts.join("");
}

/** Pads bytes to whole words, like memory. */
function padded(bytes: Uint8Array): Uint8Array {
  const words = new Uint8Array(Math.ceil(bytes.length / 32) * 32);
  words.set(bytes);
  return words;
}
