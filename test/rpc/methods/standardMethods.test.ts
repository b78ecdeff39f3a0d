import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { decodeBlock } from "../../../src/types/block.ts";
import { aChain, type TestChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { type Ask, requesterOf } from "../requester.ts";

/** Methods of execution-apis and of go-ethereum that Besu does not have. */

/** Stores 7 in slot 0 and 9 in slot 1 when it is deployed, by account 0 with nonce 1. */
const STORE = hexToBytes("0x600760005560096001555f5ff3");
const CONTRACT = addressFromHex("0xe7f1725e7734ce288f8367e1bb143e90bb3f0512");
const UNKNOWN = `0x${"12".repeat(32)}`;
const BODIES = [
  [aTransaction({ nonce: 0n })],
  [aTransaction({ nonce: 1n, to: undefined, value: 0n, data: STORE, gasLimit: 200_000n })],
];

let node: TestChain;
let ask: Ask;

beforeAll(async () => {
  node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
  for (const raw of (await sealedDevBlocks(BODIES)).slice(1)) {
    const block = decodeBlock(raw);
    if (!block.ok) throw new Error(block.error.message);
    const imported = await node.chain.importBlock(block.value);
    if (!imported.ok) throw new Error(imported.error.message);
  }
  ask = requesterOf({ ...node, nextBaseFeePerGas: () => 7n });
});

describe("eth_getHeaderByNumber and eth_getHeaderByHash", () => {
  it("are the members of the block that its header has", async () => {
    for (const number of ["0x0", "0x1", "latest"]) {
      const block = (await ask("eth_getBlockByNumber", number, false)) as Record<string, unknown>;
      const { totalDifficulty, size, uncles, transactions, withdrawals, ...header } = block;
      expect([totalDifficulty, size, uncles, transactions]).not.toContain(undefined);
      expect(await ask("eth_getHeaderByNumber", number)).toEqual(header);
      expect(await ask("eth_getHeaderByHash", block.hash)).toEqual(header);
    }
  });

  it("are null for an unknown block", async () => {
    expect(await ask("eth_getHeaderByNumber", "0x9")).toBeNull();
    expect(await ask("eth_getHeaderByHash", UNKNOWN)).toBeNull();
    expect(await ask("eth_getHeaderByNumber", 1)).toMatchObject({ code: -32602 });
    expect(await ask("eth_getHeaderByNumber")).toMatchObject({ code: -32602 });
    expect(await ask("eth_getHeaderByHash", "0x12")).toMatchObject({ code: -32602 });
  });
});

describe("eth_getStorageValues", () => {
  const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;
  const address = toHex(CONTRACT);

  it("reads slots of several accounts after one block, the newest unless named", async () => {
    const other = toHex(account(3).address);
    const requests = { [address]: [word(1), "0x0", word(2)], [other]: ["0x1"] };
    expect(await ask("eth_getStorageValues", requests)).toEqual({
      [address]: [word(9), word(7), word(0)],
      [other]: [word(0)],
    });
    expect(await ask("eth_getStorageValues", { [address]: ["0x0"] }, "0x1")).toEqual({
      [address]: [word(0)],
    });
    const { hash } = (await ask("eth_getBlockByNumber", "0x2", false)) as { hash: string };
    expect(await ask("eth_getStorageValues", { [address]: ["0x0"] }, { blockHash: hash })).toEqual({
      [address]: [word(7)],
    });
  });

  it("is as many eth_getStorageAt", async () => {
    const slots = Array.from({ length: 1024 }, (_, slot) => word(slot));
    const values = (await ask("eth_getStorageValues", { [address]: slots })) as Record<string, string[]>;
    expect(values[address]).toHaveLength(1024);
    for (const slot of [0, 1, 2, 1023])
      expect(values[address]?.[slot]).toBe(await ask("eth_getStorageAt", address, word(slot), "latest"));
  });

  it("refuses requests for no slot, for too many, and what is no request", async () => {
    const refused = (data: string) => ({ code: -32602, message: "Invalid params", data });
    for (const nothing of [{}, { [address]: [] }])
      expect(await ask("eth_getStorageValues", nothing)).toEqual(
        refused("parameter 1 (requests) asks for no slot"),
      );
    const slots = Array.from({ length: 600 }, () => "0x0");
    const many = { [address]: slots, [toHex(account(3).address)]: slots };
    expect(await ask("eth_getStorageValues", many)).toEqual(
      refused("parameter 1 (requests) asks for more than 1024 slots"),
    );
    const empty = Array.from(
      { length: 1024 },
      (_, n) => [`0x${n.toString(16).padStart(40, "0")}`, []] as const,
    );
    expect(await ask("eth_getStorageValues", { ...Object.fromEntries(empty), [address]: ["0x0"] })).toEqual(
      refused("parameter 1 (requests) asks for more than 1024 slots"),
    );
    for (const odd of [
      [],
      "0x0",
      null,
      { [address]: "0x0" },
      { [address]: ["zz"] },
      { [address]: [1] },
      { "0xzz": ["0x0"] },
    ])
      expect(await ask("eth_getStorageValues", odd)).toMatchObject({ code: -32602 });
  });

  it("answers as eth_getStorageAt does for a block that is unknown, and for a state that is not stored", async () => {
    expect(await ask("eth_getStorageValues", { [address]: ["0x0"] }, "0x9")).toEqual(
      await ask("eth_getStorageAt", address, "0x0", "0x9"),
    );
    const without = requesterOf({
      ...node,
      chain: { ...node.chain, head: node.chain.head, stateAt: () => undefined },
    });
    expect(await without("eth_getStorageValues", { [address]: ["0x0"] })).toBeNull();
  });
});

describe("eth_baseFee", () => {
  it("is the base fee of the next block, null before London", async () => {
    expect(await ask("eth_baseFee")).toBe("0x7");
    expect(await requesterOf({ ...node, nextBaseFeePerGas: () => undefined })("eth_baseFee")).toBeNull();
  });
});

describe("eth_capabilities", () => {
  it("tells from which block on the node has what", async () => {
    const { number, hash } = (await ask("eth_getBlockByNumber", "latest", false)) as Record<string, string>;
    const whole = { disabled: false, oldestBlock: "0x0" };
    const resources = ["state", "tx", "logs", "receipts", "blocks", "stateproofs"];
    expect(await ask("eth_capabilities")).toEqual({
      head: { number, hash },
      ...Object.fromEntries(resources.map((name) => [name, whole])),
    });
    const historyStart = { headers: 0n, blocks: 1n, states: 2n };
    const pruned = requesterOf({ ...node, chain: { ...node.chain, head: node.chain.head, historyStart } });
    expect(await pruned("eth_capabilities")).toMatchObject({
      blocks: { oldestBlock: "0x1" },
      receipts: { oldestBlock: "0x1" },
      state: { oldestBlock: "0x2" },
      stateproofs: { oldestBlock: "0x2" },
    });
  });
});
