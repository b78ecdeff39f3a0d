import { readFileSync } from "node:fs";
import { RLP } from "@ethereumjs/rlp";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { aChain } from "../../builders/aChain.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { account } from "../../builders/testAccounts.ts";
import { returning, word } from "../overriddenCode.ts";
import { type Ask, requesterOf } from "../requester.ts";

const RICH = toHex(account(0).address);
const NOBODY = `0x${"de".repeat(20)}`;

let ask: Ask;

beforeAll(async () => {
  const node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
  ask = requesterOf({ ...node, ...hereWorkers(node) });
});

/** Where the account's next contract will be (yellow paper §7). */
function createdBy(creator: string, nonce: bigint): bigint {
  const hash = keccak256(RLP.encode([creator, nonce]));
  return BigInt(toHex(hash.subarray(12)));
}

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

  it("give an account any nonce of 64 bits, with the last of which it neither creates nor sends", async () => {
    // CREATE(0, 0, 0), then the address.
    const creator = (nonce: bigint) =>
      call({ [NOBODY]: { code: returning("600060006000f0"), nonce: `0x${nonce.toString(16)}` } });
    const addresses = [2n ** 63n, 2n ** 64n - 2n].map((nonce) => word(createdBy(NOBODY, nonce)));
    expect(await creator(2n ** 63n)).toBe(addresses[0]);
    expect(await creator(2n ** 64n - 2n)).toBe(addresses[1]);
    expect(await creator(2n ** 64n - 1n)).toBe(word(0));
    const send = (nonce: string, method = "eth_call") =>
      ask(method, { from: RICH, to: NOBODY }, "latest", { [RICH]: { nonce } });
    expect(await send("0xfffffffffffffffe")).toBe("0x");
    expect(await send("0xfffffffffffffffe", "eth_estimateGas")).toBe("0x5208");
    // Besu's answer for an account that has come so far (EIP-2681).
    expect(await send("0xffffffffffffffff")).toEqual({ code: -32603, message: "Internal error" });
    expect(await send("0xffffffffffffffff", "eth_estimateGas")).toEqual({
      code: -32603,
      message: "Internal error: Nonce must be less than 2^64-1",
    });
    expect(await send("0x10000000000000000")).toEqual({ code: -32602, message: "Invalid params" });
  });

  it("may return more than is written at once", async () => {
    // Copies its input, and returns a byte more than twice as much as a piece of the answer.
    const code = "0x366000600037620400016000f3";
    const input = Buffer.from(Uint8Array.from({ length: 0x40001 }, (_, at) => at % 251)).toString("hex");
    const called = { to: NOBODY, data: `0x${input}`, gas: "0x10000000" };
    expect((await ask("eth_call", called, "latest", { [NOBODY]: { code } })) === `0x${input}`).toBe(true);
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

  it("name no withdrawals and no beacon root, which no block of the chain has", async () => {
    const unsupported = (name: string) => ({
      code: -32000,
      message: `block override "${name}" is not supported for this RPC method`,
    });
    const withdrawal = { index: "0x0", validatorIndex: "0x0", address: NOBODY, amount: "0x1" };
    for (const method of ["eth_call", "eth_estimateGas", "eth_createAccessList"]) {
      const block = (overrides: object) => ask(method, { to: NOBODY }, "latest", {}, overrides);
      expect(await block({ beaconRoot: word(1) })).toEqual(unsupported("beaconRoot"));
      expect(await block({ withdrawals: [withdrawal] })).toEqual(unsupported("withdrawals"));
      const plain = await ask(method, { to: NOBODY }, "latest");
      expect(await block({ withdrawals: [], beaconRoot: null })).toEqual(plain);
    }
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

  it("move precompiled contracts, and put code in their place", async () => {
    const IDENTITY = `0x${"4".padStart(40, "0")}`;
    const SHA256 = `0x${"2".padStart(40, "0")}`;
    const give = (to: string, overrides: object) =>
      ask("eth_call", { to, data: "0x1234" }, "latest", overrides);
    const moved = { [IDENTITY]: { movePrecompileToAddress: NOBODY } };
    expect(await give(NOBODY, moved)).toBe("0x1234");
    expect(await give(IDENTITY, moved)).toBe("0x");
    expect(await give(IDENTITY, { [IDENTITY]: { ...moved[IDENTITY], code: returning("602a") } })).toBe(
      word(42),
    );
    expect(await give(IDENTITY, { [IDENTITY]: { code: returning("602a") } })).toBe(word(42));
    expect(await give(IDENTITY, { [IDENTITY]: { balance: "0x1" } })).toBe("0x1234");
    // Code reaches it there, and gives it everything: STATICCALL(gas, NOBODY, 0, 32, 0, 32).
    const code = `0x602a60005260206000602060007f${word(BigInt(NOBODY)).slice(2)}5afa5060206000f3`;
    expect(await give(RICH, { ...moved, [RICH]: { code } })).toBe(word(42));
    const gas = await ask("eth_estimateGas", { to: NOBODY, data: "0x1234" }, "latest", moved);
    expect(gas).toBe(await ask("eth_estimateGas", { to: IDENTITY, data: "0x1234" }));
    const refused = (message: string) => ({ code: -32000, message });
    expect(await give(NOBODY, { [RICH]: { movePrecompileToAddress: NOBODY } })).toEqual(
      refused(`account ${RICH} is not a precompile`),
    );
    for (const target of [IDENTITY, SHA256])
      expect(await give(NOBODY, { [SHA256]: {}, [IDENTITY]: { movePrecompileToAddress: target } })).toEqual(
        refused(`account ${target} is already overridden`),
      );
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
      { [NOBODY]: { movePrecompileToAddress: "nowhere" } },
    ])
      expect(await call(override), JSON.stringify(override)).toEqual(invalid);
    expect(await call({}, { number: "-1" })).toEqual(invalid);
    for (const nothing of [7, "x", [], null]) expect(await call(nothing, nothing)).toBe("0x");
  });
});
