import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { aChain } from "../../builders/aChain.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { account } from "../../builders/testAccounts.ts";
import { type Ask, askerOf } from "../asker.ts";

const RICH = toHex(account(0).address);
const NOBODY = `0x${"de".repeat(20)}`;

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
  ask = askerOf({ ...node, ...hereWorkers(node) });
});

describe("overrides of a call", () => {
  const call = (...params: unknown[]) => ask("eth_call", { to: NOBODY }, "latest", ...params);

  it("give an account code, balance, nonce and storage, for this call alone", async () => {
    expect(await call({ [NOBODY]: { code: returning("602a") } })).toBe(word(42));
    expect(await call({ [NOBODY]: { code: returning("47"), balance: "0x7" } })).toBe(word(7));
    const slots = { [word(0)]: word(3) };
    expect(await call({ [NOBODY]: { code: returning("600054"), stateDiff: slots } })).toBe(word(3));
    expect(await call({ [NOBODY]: { code: returning("600054"), state: slots } })).toBe(word(3));
    expect(await call({ [NOBODY]: { code: returning("600154"), state: slots } })).toBe(word(0));
    expect(await call()).toBe("0x");
    const creation = await ask("eth_call", { from: RICH, data: returning("30") }, "latest", {
      [RICH]: { nonce: "0x5" },
    });
    const unchanged = await ask("eth_call", { from: RICH, data: returning("30") }, "latest");
    expect(creation).not.toBe(unchanged);
  });

  it("change the block that the call sees", async () => {
    const sees = (opcode: string, block: object) => call({ [NOBODY]: { code: returning(opcode) } }, block);
    expect(await sees("43", { number: "0x64" })).toBe(word(100));
    expect(await sees("42", { time: "0x77777777" })).toBe(word(0x77777777));
    expect(await sees("45", { gasLimit: "0x5f5e100" })).toBe(word(100_000_000));
    expect(await sees("41", { feeRecipient: RICH })).toBe(word(BigInt(RICH)));
    expect(await sees("44", { prevRandao: word(9) })).toBe(word(9));
    expect(await sees("606340", { number: "0x64" })).toBe(word(0));
  });

  it("hold for estimates and access lists, too", async () => {
    const code = returning("600054");
    const transaction = { to: NOBODY };
    const gas = await ask("eth_estimateGas", transaction, "latest", { [NOBODY]: { code } });
    expect(BigInt(gas as string)).toBeGreaterThan(21_000n);
    expect(await ask("eth_estimateGas", transaction)).toBe("0x5208");
    const listed = await ask("eth_createAccessList", transaction, "latest", { [NOBODY]: { code } });
    expect(listed).toMatchObject({ accessList: [{ address: NOBODY, storageKeys: [word(0)] }] });
    const broke = { from: NOBODY, to: RICH, value: "0x5" };
    expect(await ask("eth_estimateGas", broke)).toMatchObject({ code: -32004 });
    expect(await ask("eth_estimateGas", broke, null, { [NOBODY]: { balance: "0x5" } })).toBe("0x5208");
  });

  it("are refused when they make no sense, and ignored where there is no object", async () => {
    const invalid = { code: -32602, message: "Invalid params" };
    for (const override of [
      { zz: {} },
      { [NOBODY]: 5 },
      { [NOBODY]: { balance: "lots" } },
      { [NOBODY]: { nonce: word(2n ** 64n) } },
      { [NOBODY]: { code: "0x1" } },
      { [NOBODY]: { state: { zz: "0x0" } } },
      { [NOBODY]: { state: {}, stateDiff: {} } },
    ])
      expect(await call(override), JSON.stringify(override)).toEqual(invalid);
    expect(await call({}, { number: "-1" })).toEqual(invalid);
    for (const nothing of [7, "x", [], null]) expect(await call(nothing, nothing)).toBe("0x");
  });
});
