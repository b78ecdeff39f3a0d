import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEV_ACCOUNTS } from "../../../src/config/devNetwork.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { itIfThorough } from "../../thorough.ts";
import { type NodeProcess, startNodeProcess, until } from "../harness/nodeProcess.ts";

/** The accounts of the development network, its impersonation, and its altered states, as a caller sees them. */

const [ALICE, BOB] = DEV_ACCOUNTS.map(({ address }) => address.toLowerCase()) as [string, string];
const OUTSIDER = `0x${"5e".repeat(20)}`;
const CONTRACT = `0x${"c0".repeat(20)}`;
const EVIL = "http://evil.example";

let node: NodeProcess;

beforeAll(async () => {
  node = await startNodeProcess();
});

afterAll(async () => {
  await node.stop();
});

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: string };
}

async function ask(method: string, params: readonly unknown[], origin?: string): Promise<Answer> {
  const response = await fetch(node.httpUrl, {
    method: "POST",
    headers: { "content-type": "application/json", ...(origin !== undefined && { origin }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as Answer;
  return error === undefined ? { result } : { error };
}

/** The answer to a transaction, which must be its hash. */
async function send(transaction: Readonly<Record<string, unknown>>): Promise<string> {
  const { result, error } = await ask("eth_sendTransaction", [transaction]);
  if (typeof result !== "string") throw new Error(error?.message);
  return result;
}

describe("an account of the development network", () => {
  it("is one of ten", async () => {
    expect(await ask("eth_accounts", [])).toEqual({
      result: DEV_ACCOUNTS.map(({ address }) => address.toLowerCase()),
    });
  });

  it("sends transactions that are in a block once they are answered, with nonces in order", async () => {
    const hashes = await Promise.all(
      Array.from({ length: 20 }, () => send({ from: ALICE, to: BOB, value: "0x1" })),
    );
    expect(new Set(hashes).size).toBe(20);
    for (const hash of hashes)
      expect(await node.rpc("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
    expect(await node.rpc("eth_getTransactionCount", [ALICE, "latest"])).toBe("0x14");
  });

  it("answers why a transaction failed, as Hardhat does, with the data of the revert", async () => {
    // Reverts with one byte.
    const data = "0x60ab60005360016000fd";
    const { error } = await ask("eth_sendTransaction", [{ from: BOB, data }]);
    expect(error).toEqual({
      code: 3,
      message:
        "VM Exception while processing transaction: reverted with an unrecognized custom error (return data: 0xab)",
      data: "0xab",
    });
    expect(await node.rpc("eth_getTransactionCount", [BOB, "latest"])).toBe("0x1");
  });

  it("is refused what it cannot do, in Hardhat's words", async () => {
    const transfer = { from: BOB, to: ALICE };
    const refused = async (transaction: Readonly<Record<string, unknown>>) => {
      const { error } = await ask("eth_sendTransaction", [transaction]);
      return error?.message;
    };
    expect(await refused({ ...transfer, from: OUTSIDER })).toBe(`Unknown account ${OUTSIDER}`);
    expect(await refused({ ...transfer, nonce: "0x0" })).toBe(
      "Nonce too low. Expected nonce to be at least 1 but got 0.",
    );
    expect(await refused({ ...transfer, value: `0x${"ff".repeat(20)}` })).toMatch(
      /^Sender doesn't have enough funds to send tx\. The max upfront cost is: \d+ and the sender's balance is: \d+\. \(insufficient funds/,
    );
    expect(await refused({ ...transfer, gas: "0x1" })).toBe(
      "Transaction requires at least 21000 gas but got 1 (intrinsic gas too low)",
    );
    expect(await refused({ ...transfer, gas: "0x17d78401" })).toBe(
      "Transaction gas limit is 400000001 and exceeds block gas limit of 400000000 (intrinsic gas too high)",
    );
    expect(await refused({ ...transfer, chainId: "0x1" })).toContain("chainId does not match");
  });

  it("signs messages, typed data and transactions as a wallet with its key does", async () => {
    const key = expectDefined(DEV_ACCOUNTS[0], "the first account").privateKey as `0x${string}`;
    const wallet = privateKeyToAccount(key);
    const message = { raw: "0xdeadbeef" } as const;
    const signature = await wallet.signMessage({ message });
    expect(await ask("personal_sign", [message.raw, ALICE])).toEqual({ result: signature });
    expect(await ask("eth_sign", [ALICE, message.raw])).toEqual({ result: signature });
    const typed = {
      types: { Order: [{ name: "amount", type: "uint256" }] },
      primaryType: "Order",
      domain: { name: "Shop", chainId: 1337 },
      message: { amount: 5n },
    } as const;
    const json = { ...typed, message: { amount: "5" } };
    expect(await ask("eth_signTypedData_v4", [ALICE, json])).toEqual({
      result: await wallet.signTypedData(typed),
    });
    const gas = { gas: "0x5208", maxFeePerGas: "0x7", maxPriorityFeePerGas: "0x1", nonce: "0x63" };
    expect(await ask("eth_signTransaction", [{ from: ALICE, to: BOB, ...gas }])).toEqual({
      result: await wallet.signTransaction({
        ...{ type: "eip1559", chainId: 1337, nonce: 99, to: BOB as `0x${string}` },
        ...{ gas: 21_000n, maxFeePerGas: 7n, maxPriorityFeePerGas: 1n },
      }),
    });
    const { error } = await ask("eth_sign", [OUTSIDER, "0x00"]);
    expect(error?.message).toBe(`Unknown account ${OUTSIDER}`);
    expect((await ask("eth_signTypedData_v4", [ALICE, { ...json, primaryType: "None" }])).error).toEqual({
      code: -32602,
      message: "Invalid params",
      data: "a type that is used is not defined",
    });
  });

  it("does nothing for pages of foreign origins", async () => {
    expect(await ask("eth_accounts", [], EVIL)).toEqual({ result: [] });
    expect((await ask("eth_sendTransaction", [{ from: ALICE, to: BOB }], EVIL)).error?.code).toBe(-32604);
    for (const method of ["eth_sign", "personal_sign", "hardhat_setBalance", "hardhat_impersonateAccount"])
      expect((await ask(method, [], EVIL)).error, method).toBeDefined();
    expect((await ask("web3_clientVersion", [], EVIL)).result).toMatch(/^ibex\//);
  });
});

describe("an account that is impersonated", () => {
  it("sends without its key, from a contract, too, until it is no longer", async () => {
    await node.rpc("hardhat_setBalance", [OUTSIDER, "0xde0b6b3a7640000"]);
    // Returns nothing, and does nothing.
    await node.rpc("hardhat_setCode", [CONTRACT, "0x00"]);
    await node.rpc("anvil_setBalance", [CONTRACT, "0xde0b6b3a7640000"]);
    for (const from of [OUTSIDER, CONTRACT]) {
      expect((await ask("eth_sendTransaction", [{ from, to: BOB }])).error?.message).toContain(
        "Unknown account",
      );
      expect(await node.rpc("hardhat_impersonateAccount", [from])).toBe(true);
      const hash = await send({ from, to: BOB, value: "0x1" });
      expect(await node.rpc("eth_getTransactionByHash", [hash])).toMatchObject({ from, nonce: "0x0" });
      expect(await node.rpc("debug_traceTransaction", [hash])).toMatchObject({ failed: false });
      const raw = await node.rpc<string>("eth_getRawTransactionByHash", [hash]);
      expect((await ask("eth_sendRawTransaction", [raw])).error?.code).toBe(-32002);
      expect(await node.rpc("hardhat_stopImpersonatingAccount", [from])).toBe(true);
      expect(await node.rpc("hardhat_stopImpersonatingAccount", [from])).toBe(false);
      expect((await ask("eth_sendTransaction", [{ from, to: BOB }])).error?.message).toContain(
        "Unknown account",
      );
    }
    expect(await node.rpc("anvil_autoImpersonateAccount", [true])).toBeNull();
    await send({ from: CONTRACT, to: BOB });
    expect(await node.rpc("anvil_autoImpersonateAccount", [false])).toBeNull();
  });
});

describe("an altered state", () => {
  const slot = (digits: string): string => `0x${digits.padStart(64, "0")}`;

  it("is what was set, at once", async () => {
    const other = `0x${"0f".repeat(20)}`;
    expect(await node.rpc("hardhat_setBalance", [other, "0x7b"])).toBe(true);
    expect(await node.rpc("anvil_addBalance", [other, 1])).toBeNull();
    expect(await node.rpc("eth_getBalance", [other, "latest"])).toBe("0x7c");
    expect(await node.rpc("hardhat_setNonce", [other, "0x9"])).toBe(true);
    expect((await ask("hardhat_setNonce", [other, "0x2"])).error?.message).toBe(
      "New nonce (2) must not be smaller than the existing nonce (9)",
    );
    expect(await node.rpc("anvil_setNonce", [other, "0x2"])).toBeNull();
    expect(await node.rpc("eth_getTransactionCount", [other, "latest"])).toBe("0x2");
    expect(await node.rpc("anvil_setCode", [other, "0x60005460005260206000f3"])).toBeNull();
    expect(await node.rpc("eth_getCode", [other, "latest"])).toBe("0x60005460005260206000f3");
    expect(await node.rpc("hardhat_setStorageAt", [other, "0x0", slot("2a")])).toBe(true);
    expect(await node.rpc("eth_getStorageAt", [other, "0x0", "latest"])).toBe(slot("2a"));
    expect(await node.rpc("eth_call", [{ to: other }, "latest"])).toBe(slot("2a"));
    expect((await ask("hardhat_setStorageAt", [other, "0x0", "0x01"])).error?.message).toContain("32 bytes");
  });

  it("is refused for what is no address, no number, and code of more than half a megabyte", async () => {
    for (const [method, ...params] of [
      ["hardhat_setBalance", "0x12", "0x1"],
      ["hardhat_setBalance", OUTSIDER, "many"],
      ["hardhat_setBalance", OUTSIDER, `0x1${"0".repeat(64)}`],
      ["hardhat_setNonce", OUTSIDER, "0xffffffffffffffff"],
      ["hardhat_setCode", OUTSIDER, `0x${"00".repeat(512 * 1024 + 1)}`],
      ["hardhat_impersonateAccount", "0x12"],
    ] as const)
      expect((await ask(method, params)).error?.code, method).toBe(-32602);
  });
});

describe("tools for development", () => {
  it("hear what the node is compatible with, and what it is", async () => {
    const version = await node.rpc<string>("web3_clientVersion");
    expect(version).toMatch(/^anvil-compatible\/ibex\/v/);
    const metadata = await node.rpc<Record<string, unknown>>("hardhat_metadata");
    expect(metadata).toMatchObject({ clientVersion: version, chainId: 1337 });
    expect(metadata["instanceId"]).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await node.rpc("anvil_metadata")).toMatchObject({ instanceId: metadata["instanceId"] });
    const { currentBlockHash } = await node.rpc<{ currentBlockHash: string }>("anvil_nodeInfo");
    expect(await node.rpc("eth_getBlockByHash", [currentBlockHash, false])).not.toBeNull();
    expect(await node.rpc("hardhat_getAutomine")).toBe(true);
  });
});

describe("another network", () => {
  itIfThorough("has no accounts, and answers as ever", async () => {
    const other = await startNodeProcess({ options: ["--p2p-enabled=true", "--p2p-port=0"] });
    await until(async () => (await other.rpc<string>("eth_blockNumber")) !== "0x0" || undefined, "a block");
    expect(await other.rpc("eth_accounts")).toEqual([]);
    await expect(other.rpc("eth_sendTransaction", [{ from: ALICE, to: BOB }])).rejects.toThrow(
      "The method eth_sendTransaction is not supported",
    );
    for (const method of ["eth_sign", "personal_sign", "eth_signTransaction", "hardhat_setBalance"])
      await expect(other.rpc(method, []), method).rejects.toThrow("Method not found");
    expect(await other.rpc("web3_clientVersion")).toMatch(/^ibex\//);
    await other.stop();
  });
});
