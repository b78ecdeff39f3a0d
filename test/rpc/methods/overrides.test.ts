import { readFileSync } from "node:fs";
import { RLP } from "@ethereumjs/rlp";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { aChain } from "../../builders/aChain.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { account } from "../../builders/testAccounts.ts";
import { INVALID_PARAMS } from "../invalidParams.ts";
import { returning, word } from "../overriddenCode.ts";
import { type Ask, requesterOf } from "../requester.ts";

const RICH = toHex(account(0).address);
const UNUSED = `0x${"de".repeat(20)}`;

let ask: Ask;

beforeAll(async () => {
  const node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
  ask = requesterOf({ ...node, ...hereWorkers(node) });
});

/** Address of the contract that the account creates with this nonce (yellow paper §7). */
function createdBy(creator: string, nonce: bigint): bigint {
  const hash = keccak256(RLP.encode([creator, nonce]));
  return BigInt(toHex(hash.subarray(12)));
}

describe("overrides of a call", () => {
  const call = (...params: unknown[]) => ask("eth_call", { to: UNUSED }, "latest", ...params);

  it("set an account's code, balance, nonce and storage for this call only", async () => {
    expect(await call({ [UNUSED]: { code: returning("602a") } })).toBe(word(42));
    expect(await call({ [UNUSED]: { code: returning("47"), balance: "0x7" } })).toBe(word(7));
    const slots = { [word(0)]: word(3) };
    expect(await call({ [UNUSED]: { code: returning("600054"), stateDiff: slots } })).toBe(word(3));
    expect(await call({ [UNUSED]: { code: returning("600054"), state: slots } })).toBe(word(3));
    expect(await call({ [UNUSED]: { code: returning("600154"), state: slots } })).toBe(word(0));
    expect(await call()).toBe("0x");
    const creation = await ask("eth_call", { from: RICH, data: returning("30") }, "latest", {
      [RICH]: { nonce: "0x5" },
    });
    const unchanged = await ask("eth_call", { from: RICH, data: returning("30") }, "latest");
    expect(creation).not.toBe(unchanged);
  });

  it("set any 64-bit nonce, of which the highest can neither create nor send", async () => {
    // CREATE(0, 0, 0), then the address.
    const creator = (nonce: bigint) =>
      call({ [UNUSED]: { code: returning("600060006000f0"), nonce: `0x${nonce.toString(16)}` } });
    const addresses = [2n ** 63n, 2n ** 64n - 2n].map((nonce) => word(createdBy(UNUSED, nonce)));
    expect(await creator(2n ** 63n)).toBe(addresses[0]);
    expect(await creator(2n ** 64n - 2n)).toBe(addresses[1]);
    expect(await creator(2n ** 64n - 1n)).toBe(word(0));
    const send = (nonce: string, method = "eth_call") =>
      ask(method, { from: RICH, to: UNUSED }, "latest", { [RICH]: { nonce } });
    expect(await send("0xfffffffffffffffe")).toBe("0x");
    expect(await send("0xfffffffffffffffe", "eth_estimateGas")).toBe("0x5208");
    // An account with the highest nonce sends nothing (EIP-2681).
    expect(await send("0xffffffffffffffff")).toEqual({ code: -32000, message: "Nonce overflow" });
    expect(await send("0xffffffffffffffff", "eth_estimateGas")).toEqual({
      code: -32000,
      message: "Nonce overflow: Nonce must be less than 2^64-1",
    });
    expect(await send("0x10000000000000000")).toEqual(INVALID_PARAMS);
  });

  it("allow an output of several pieces", async () => {
    // Copies its input, and returns one byte more than two pieces of an answer.
    const code = "0x366000600037620400016000f3";
    const input = Buffer.from(Uint8Array.from({ length: 0x40001 }, (_, at) => at % 251)).toString("hex");
    const called = { to: UNUSED, data: `0x${input}`, gas: "0x10000000" };
    expect((await ask("eth_call", called, "latest", { [UNUSED]: { code } })) === `0x${input}`).toBe(true);
  });

  it("change the block of the call", async () => {
    const outputOf = (opcode: string, block: object) =>
      call({ [UNUSED]: { code: returning(opcode) } }, block);
    expect(await outputOf("43", { number: "0x64" })).toBe(word(100));
    expect(await outputOf("42", { time: "0x77777777" })).toBe(word(0x77777777));
    expect(await outputOf("45", { gasLimit: "0x5f5e100" })).toBe(word(100_000_000));
    expect(await outputOf("41", { feeRecipient: RICH })).toBe(word(BigInt(RICH)));
    expect(await outputOf("44", { prevRandao: word(9) })).toBe(word(9));
    expect(await outputOf("606340", { number: "0x64" })).toBe(word(0));
  });

  it("refuse withdrawals and a beacon root, which no block of the chain has", async () => {
    const unsupported = (name: string) => ({
      code: -32000,
      message: `block override "${name}" is not supported for this RPC method`,
    });
    const withdrawal = { index: "0x0", validatorIndex: "0x0", address: UNUSED, amount: "0x1" };
    for (const method of ["eth_call", "eth_estimateGas", "eth_createAccessList"]) {
      const block = (overrides: object) => ask(method, { to: UNUSED }, "latest", {}, overrides);
      expect(await block({ beaconRoot: word(1) })).toEqual(unsupported("beaconRoot"));
      expect(await block({ withdrawals: [withdrawal] })).toEqual(unsupported("withdrawals"));
      const plain = await ask(method, { to: UNUSED }, "latest");
      expect(await block({ withdrawals: [], beaconRoot: null })).toEqual(plain);
    }
  });

  it("apply to estimates and access lists", async () => {
    const code = returning("600054");
    const transaction = { to: UNUSED };
    const gas = await ask("eth_estimateGas", transaction, "latest", { [UNUSED]: { code } });
    expect(BigInt(gas as string)).toBeGreaterThan(21_000n);
    expect(await ask("eth_estimateGas", transaction)).toBe("0x5208");
    const listed = await ask("eth_createAccessList", transaction, "latest", { [UNUSED]: { code } });
    expect(listed).toMatchObject({ accessList: [{ address: UNUSED, storageKeys: [word(0)] }] });
    const broke = { from: UNUSED, to: RICH, value: "0x5" };
    expect(await ask("eth_estimateGas", broke)).toMatchObject({ code: -32004 });
    expect(await ask("eth_estimateGas", broke, null, { [UNUSED]: { balance: "0x5" } })).toBe("0x5208");
  });

  it("move precompiled contracts, and replace them by code", async () => {
    const IDENTITY = `0x${"4".padStart(40, "0")}`;
    const SHA256 = `0x${"2".padStart(40, "0")}`;
    const callWith = (to: string, overrides: object) =>
      ask("eth_call", { to, data: "0x1234" }, "latest", overrides);
    const moved = { [IDENTITY]: { movePrecompileToAddress: UNUSED } };
    expect(await callWith(UNUSED, moved)).toBe("0x1234");
    expect(await callWith(IDENTITY, moved)).toBe("0x");
    expect(await callWith(IDENTITY, { [IDENTITY]: { ...moved[IDENTITY], code: returning("602a") } })).toBe(
      word(42),
    );
    expect(await callWith(IDENTITY, { [IDENTITY]: { code: returning("602a") } })).toBe(word(42));
    expect(await callWith(IDENTITY, { [IDENTITY]: { balance: "0x1" } })).toBe("0x1234");
    // Code calls it at the new address: STATICCALL(gas, UNUSED, 0, 32, 0, 32).
    const code = `0x602a60005260206000602060007f${word(BigInt(UNUSED)).slice(2)}5afa5060206000f3`;
    expect(await callWith(RICH, { ...moved, [RICH]: { code } })).toBe(word(42));
    const gas = await ask("eth_estimateGas", { to: UNUSED, data: "0x1234" }, "latest", moved);
    expect(gas).toBe(await ask("eth_estimateGas", { to: IDENTITY, data: "0x1234" }));
    const refused = (message: string) => ({ code: -32000, message });
    expect(await callWith(UNUSED, { [RICH]: { movePrecompileToAddress: UNUSED } })).toEqual(
      refused(`account ${RICH} is not a precompile`),
    );
    for (const target of [IDENTITY, SHA256])
      expect(
        await callWith(UNUSED, { [SHA256]: {}, [IDENTITY]: { movePrecompileToAddress: target } }),
      ).toEqual(refused(`account ${target} is already overridden`));
  });

  it("are refused when they are invalid, and ignored when they are not objects", async () => {
    const invalid = INVALID_PARAMS;
    for (const override of [
      { zz: {} },
      { [UNUSED]: 5 },
      { [UNUSED]: { balance: "lots" } },
      { [UNUSED]: { nonce: word(2n ** 64n) } },
      { [UNUSED]: { code: "0x1" } },
      { [UNUSED]: { state: { zz: "0x0" } } },
      { [UNUSED]: { state: {}, stateDiff: {} } },
      { [UNUSED]: { movePrecompileToAddress: "nowhere" } },
    ])
      expect(await call(override), JSON.stringify(override)).toEqual(invalid);
    expect(await call({}, { number: "-1" })).toEqual(invalid);
    for (const ignored of [7, "x", [], null]) expect(await call(ignored, ignored)).toBe("0x");
  });
});
