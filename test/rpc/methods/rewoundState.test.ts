import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import type { Chain } from "../../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { concatBytes, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { Batch } from "../../../src/storage/batch.ts";
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
 * Reads of the state between the write of a rewind, or of a rebuild, and its announcement, when the disk and the memory
 * are at different states.
 */

const RICH = account(0).address;
const NEW_ACCOUNT = addressFromHex(`0x${"59".repeat(20)}`);
const UNUSED = addressFromHex(`0x${"5a".repeat(20)}`);
/** Stores the second word of the call data under the first. Deployed by RICH with nonce 1. */
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
  [storing(3n, 1n, 7n), storing(4n, 2n, 9n), aTransaction({ nonce: 5n, to: NEW_ACCOUNT, value: 3n })],
];
const HEAD = BODIES.length;

const REQUESTS: readonly (readonly [method: string, ...params: unknown[]])[] = ["latest", "pending"]
  .concat(Array.from({ length: HEAD + 1 }, (_, number) => `0x${number}`))
  .flatMap((block) => [
    ...[RICH, NEW_ACCOUNT, UNUSED, CONTRACT].flatMap((address) => [
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
/** Called after each write, before the write's promise resolves. */
let onWritten: () => Promise<void>;

async function open(): Promise<void> {
  const opened = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), database });
  chain = opened.chain;
  const { spec, world } = opened;
  ask = requesterOf({ chain, spec, prove: (number, address, slots) => world.prove(number, address, slots) });
}

async function readAll(): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  for (const [method, ...params] of REQUESTS)
    answers.push({ method, params, answer: await ask(method, ...params) });
  return answers;
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

describe("state read during a rewind", () => {
  it.each(["has been read before", "has been read in part", "has not been read"])(
    "is that of the old head until the new one is announced, when it %s",
    async (cached) => {
      const before = await readAll();
      if (cached !== "has been read before") await open();
      if (cached === "has been read in part") await ask("eth_getBalance", toHex(CONTRACT), "latest");
      let between: readonly unknown[] = [];
      onWritten = async () => {
        between = await readAll();
      };
      await chain.rewind(2n);
      expect(between).toEqual(before);
      const after = await readAll();
      await open();
      expect(after).toEqual(await readAll());
      expect(await ask("eth_getTransactionCount", toHex(RICH), "latest")).toBe("0x2");
      expect(await ask("eth_getBalance", toHex(NEW_ACCOUNT), "latest")).toBe("0x0");
    },
  );
});

describe("state read during a rebuild", () => {
  it("is read from the tries, whatever the flat entries are", async () => {
    const before = await readAll();
    const [ours, others] = [CONTRACT, RICH].map((address) => accountKey(keccak256(address)));
    const entry = others && database.get(others);
    if (ours === undefined || entry === undefined) throw new Error("there are two accounts");
    const batch = new Batch();
    batch.put(ours, sealEntry(ours, entry.slice(0, -4)));
    await database.write(batch);
    await open();
    expect(await readAll()).not.toEqual(before);
    const between: unknown[] = [];
    onWritten = async () => void between.push(await readAll());
    await chain.rebuildState();
    expect(between).toEqual(between.map(() => before));
    expect(between).not.toEqual([]);
    expect(await readAll()).toEqual(before);
  });
});
