import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import type { Chain } from "../../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { concatBytes, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { createBatch } from "../../../src/storage/batch.ts";
import { sealEntry } from "../../../src/storage/checksum.ts";
import type { Database } from "../../../src/storage/database.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { accountKey } from "../../../src/storage/stateKeys.ts";
import { decodeBlock } from "../../../src/types/block.ts";
import { aChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { type Ask, requesterOf } from "../requester.ts";

/*
 * What is answered of the state in the moment between the write of a rewind, or of a repair, and the news of it: the disk
 * is at one state then, what is held in memory at another.
 */

const RICH = account(0).address;
const YOUNG = addressFromHex(`0x${"59".repeat(20)}`);
const STRANGER = addressFromHex(`0x${"5a".repeat(20)}`);
/** Stores the second word that it is given under the first. Deployed by RICH with nonce 1. */
const STORE = hexToBytes("0x666020355f3555005f5260076019f3");
const CONTRACT = addressFromHex("0xe7f1725e7734ce288f8367e1bb143e90bb3f0512");

function storing(nonce: bigint, slot: bigint, value: bigint) {
  const data = concatBytes(bigintToFixedBytes(slot, 32), bigintToFixedBytes(value, 32));
  return aTransaction({ nonce, to: CONTRACT, value: 0n, data, gasLimit: 100_000n });
}

const BODIES = [
  [aTransaction({ nonce: 0n })],
  [aTransaction({ nonce: 1n, to: undefined, value: 0n, data: STORE, gasLimit: 200_000n })],
  [storing(2n, 1n, 5n)],
  [storing(3n, 1n, 7n), storing(4n, 2n, 9n), aTransaction({ nonce: 5n, to: YOUNG, value: 3n })],
];
const HEAD = BODIES.length;

const QUESTIONS: readonly (readonly [method: string, ...params: unknown[]])[] = ["latest", "pending"]
  .concat(Array.from({ length: HEAD + 1 }, (_, number) => `0x${number}`))
  .flatMap((block) => [
    ...[RICH, YOUNG, STRANGER, CONTRACT].flatMap((address) => [
      ["eth_getBalance", toHex(address), block] as const,
      ["eth_getTransactionCount", toHex(address), block] as const,
      ["eth_getCode", toHex(address), block] as const,
    ]),
    ["eth_getStorageAt", toHex(CONTRACT), "0x1", block] as const,
    ["eth_getStorageAt", toHex(CONTRACT), "0x2", block] as const,
    ["eth_getProof", toHex(CONTRACT), ["0x1", "0x2"], block] as const,
    ["eth_getProof", toHex(RICH), [], block] as const,
  ]);

let database: Database;
let chain: Chain;
let ask: Ask;
/** Told of each write that is done, before those who wait for it are. */
let onWritten: () => Promise<void>;

async function open(): Promise<void> {
  const opened = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), database });
  chain = opened.chain;
  const { spec, world } = opened;
  ask = requesterOf({ chain, spec, prove: (number, address, slots) => world.prove(number, address, slots) });
}

async function answers(): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for (const [method, ...params] of QUESTIONS) all.push({ method, params, is: await ask(method, ...params) });
  return all;
}

beforeEach(async () => {
  onWritten = () => Promise.resolve();
  const memory = createMemoryDatabase();
  database = {
    ...memory,
    async write(batch) {
      await memory.write(batch);
      await onWritten();
    },
  };
  await open();
  for (const bytes of (await sealedDevBlocks(BODIES)).slice(1)) {
    const block = decodeBlock(bytes);
    const imported = block.ok ? await chain.importBlock(block.value) : block;
    if (!imported.ok) throw new Error(imported.error.message);
  }
});

describe("state that is read while it is rewound", () => {
  it.each(["has been read before", "has been read in part", "has not been read"])(
    "is that of the old head until the new one is announced, where it %s",
    async (what) => {
      const before = await answers();
      if (what !== "has been read before") await open();
      if (what === "has been read in part") await ask("eth_getBalance", toHex(CONTRACT), "latest");
      let between: readonly unknown[] = [];
      onWritten = async () => {
        between = await answers();
      };
      await chain.rewind(2n);
      expect(between).toEqual(before);
      const after = await answers();
      await open();
      expect(after).toEqual(await answers());
      expect(await ask("eth_getTransactionCount", toHex(RICH), "latest")).toBe("0x2");
      expect(await ask("eth_getBalance", toHex(YOUNG), "latest")).toBe("0x0");
    },
  );
});

describe("state that is read while it is written anew", () => {
  it("is what the tries say, whatever the entries are", async () => {
    const before = await answers();
    const [ours, others] = [CONTRACT, RICH].map((address) => accountKey(keccak256(address)));
    const entry = others && database.get(others);
    if (ours === undefined || entry === undefined) throw new Error("there are two accounts");
    const batch = createBatch();
    batch.put(ours, sealEntry(ours, entry.slice(0, -4)));
    await database.write(batch);
    await open();
    expect(await answers()).not.toEqual(before);
    const between: unknown[] = [];
    onWritten = async () => void between.push(await answers());
    await chain.rebuildState();
    expect(between).toEqual(between.map(() => before));
    expect(between).not.toEqual([]);
    expect(await answers()).toEqual(before);
  });
});
