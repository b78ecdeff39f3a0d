import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import type { StateQuery } from "../../../src/execution/simulation/stateQuery.ts";
import { HISTORY_CONTRACT } from "../../../src/execution/systemCalls.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { keccak256, ZERO_HASH } from "../../../src/primitives/hash.ts";
import { hexToBytes, toDigits, toHex } from "../../../src/primitives/hex.ts";
import type { Requester } from "../../../src/primitives/requester.ts";
import { decodeBlock } from "../../../src/types/block.ts";
import { aChain, type TestChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { type Ask, requesterOf } from "../requester.ts";

const SENDER = account(0).address;
const NEWCOMER = addressFromHex(`0x${"59".repeat(20)}`);
/** Stores its call value in slot 0. Deployed by SENDER with nonce 1. */
const STORE = hexToBytes("0x6634600055005f5260076019f3");
const CONTRACT = addressFromHex("0xe7f1725e7734ce288f8367e1bb143e90bb3f0512");

const BODIES = [
  [aTransaction({ nonce: 0n, to: NEWCOMER, value: 3n })],
  [aTransaction({ nonce: 1n, to: undefined, value: 0n, data: STORE, gasLimit: 200_000n })],
  [],
  [aTransaction({ nonce: 2n, to: CONTRACT, value: 5n, gasLimit: 100_000n })],
];

let node: TestChain;
let ask: Ask;
let hashes: readonly string[];

beforeAll(async () => {
  node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
  for (const raw of (await sealedDevBlocks(BODIES)).slice(1)) {
    const block = decodeBlock(raw);
    if (!block.ok) throw new Error(block.error.message);
    const imported = await node.chain.importBlock(block.value);
    if (!imported.ok) throw new Error(imported.error.message);
  }
  hashes = [0n, 1n, 2n, 3n, 4n].map((number) => toHex(node.chain.headerByNumber(number)?.hash ?? ZERO_HASH));
  ask = requesterOf({ ...node, ...hereWorkers(node) });
});

/** Addresses in the order of their hashes, as answers have them. */
function byHash(...addresses: readonly Uint8Array[]): readonly string[] {
  return addresses
    .map((address) => ({ text: toHex(address), hash: toDigits(keccak256(address)) }))
    .sort((a, b) => (a.hash < b.hash ? -1 : 1))
    .map(({ text }) => text);
}

describe("debug_getModifiedAccountsByNumber and …ByHash", () => {
  it("list what a block changed, with the fees of its proposer", async () => {
    const proposer = ((await ask("eth_getBlockByNumber", "0x1", false)) as { miner: string }).miner;
    const fees = addressFromHex(proposer);
    expect(await ask("debug_getModifiedAccountsByNumber", 1)).toEqual(
      byHash(SENDER, NEWCOMER, fees, HISTORY_CONTRACT),
    );
    expect(await ask("debug_getModifiedAccountsByNumber", "0x2")).toEqual(
      byHash(SENDER, CONTRACT, fees, HISTORY_CONTRACT),
    );
    expect(await ask("debug_getModifiedAccountsByNumber", 3)).toEqual(byHash(HISTORY_CONTRACT));
    expect(await ask("debug_getModifiedAccountsByNumber", "latest")).toEqual(
      byHash(SENDER, CONTRACT, fees, HISTORY_CONTRACT),
    );
    expect(await ask("debug_getModifiedAccountsByHash", hashes[1])).toEqual(
      byHash(SENDER, NEWCOMER, fees, HISTORY_CONTRACT),
    );
  });

  it("list what changed after one block up to another", async () => {
    const all = (await ask("debug_getModifiedAccountsByNumber", 0, 4)) as readonly string[];
    expect(all).toEqual(expect.arrayContaining([...byHash(SENDER, NEWCOMER, CONTRACT)]));
    expect(await ask("debug_getModifiedAccountsByHash", hashes[0], hashes[4])).toEqual(all);
    expect(await ask("debug_getModifiedAccountsByNumber", 2, 3)).toEqual(byHash(HISTORY_CONTRACT));
    expect(await ask("debug_getModifiedAccountsByNumber", 1, "0x4")).not.toContain(toHex(NEWCOMER));
  });

  it("refuse blocks that are unknown, in the wrong order, or without a parent", async () => {
    const notFound = { code: -32000, message: "Block not found" };
    expect(await ask("debug_getModifiedAccountsByNumber", 9)).toEqual(notFound);
    expect(await ask("debug_getModifiedAccountsByNumber", 1, 9)).toEqual(notFound);
    expect(await ask("debug_getModifiedAccountsByHash", `0x${"12".repeat(32)}`)).toEqual(notFound);
    expect(await ask("debug_getModifiedAccountsByHash", hashes[1], `0x${"12".repeat(32)}`)).toEqual(notFound);
    expect(await ask("debug_getModifiedAccountsByNumber", 3, 3)).toEqual({
      code: -32000,
      message: "Invalid input: start block height (3) must be less than end block height (3)",
    });
    expect(await ask("debug_getModifiedAccountsByNumber", 0)).toEqual({
      code: -32000,
      message: "Parent block not found",
    });
    for (const params of [[-1], ["-0x1"], [1.5], ["zz"], [], [1, {}]])
      expect(await ask("debug_getModifiedAccountsByNumber", ...params)).toMatchObject({ code: -32602 });
  });

  it("refuse more accounts than an answer may have", async () => {
    const { stateQueries } = hereWorkers(node);
    const limited = requesterOf({
      ...node,
      stateQueries: {
        query: <Job extends StateQuery>(job: Job, requester: Requester) =>
          stateQueries.query(job.kind === "changedAccounts" ? { ...job, limit: 2 } : job, requester),
      },
    });
    expect(await limited("debug_getModifiedAccountsByNumber", 1)).toMatchObject({ code: -32005 });
    expect(await limited("debug_getModifiedAccountsByNumber", 3)).toEqual(byHash(HISTORY_CONTRACT));
  });

  it("answer as other methods do where a state is not stored", async () => {
    const removed = requesterOf({
      ...node,
      stateQueries: { query: async () => ({ kind: "stateUnavailable" as const }) },
    });
    expect(await removed("debug_getModifiedAccountsByNumber", 1)).toEqual({
      code: -32000,
      message: "World state unavailable",
    });
  });
});

describe("100,000 accounts that a block changed", () => {
  it("are answered in pieces", async () => {
    const addresses = new Uint8Array(20 * 100_000);
    for (let at = 0; at < addresses.length; at += 20) new DataView(addresses.buffer).setUint32(at, at);
    const large = requesterOf({
      ...node,
      stateQueries: { query: async () => ({ kind: "changedAccounts", addresses }) as never },
    });
    const answer = (await large("debug_getModifiedAccountsByNumber", 1)) as readonly string[];
    expect(answer).toHaveLength(100_000);
    expect(new Set(answer).size).toBe(100_000);
    expect(answer[1]).toBe(`0x00000014${"00".repeat(16)}`);
  });
});
