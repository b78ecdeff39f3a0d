import { readFileSync } from "node:fs";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createInlineCalls } from "../../../src/calls/inline/inlineCalls.ts";
import type { Chain } from "../../../src/chain/createChain.ts";
import type { ChainSpec } from "../../../src/chainspec/chainSpec.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { loadInterpreter } from "../../../src/execution/blockSession.ts";
import type { SimulationResult } from "../../../src/execution/simulation.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { createBatch } from "../../../src/storage/batch.ts";
import type { Database } from "../../../src/storage/database.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { accountKey } from "../../../src/storage/stateKeys.ts";
import { decodeBlock } from "../../../src/types/block.ts";
import { aChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { somebody } from "../../builders/somebody.ts";
import { account } from "../../builders/testAccounts.ts";

const RICH = account(0).address;
const ANYWHERE = addressFromHex(`0x${"77".repeat(20)}`);
/** Returns the balance of the account that the blocks' transactions come from. */
const BALANCE_OF_RICH = hexToBytes(`73${toHex(RICH).slice(2)}315f5260205ff3`);
const FROM_A_THREAD: SimulationResult = { kind: "returned", data: hexToBytes("aa"), gas: 1n };

let chain: Chain;
let spec: ChainSpec;
let database: Database;
/** Told of each write that is done, before those who wait for it are. */
let onWritten: () => Promise<void>;

beforeAll(loadInterpreter);

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
  ({ chain, spec } = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), database }));
  for (const bytes of (await sealedDevBlocks([[aTransaction({ nonce: 0n })], []])).slice(1)) {
    const block = decodeBlock(bytes);
    const imported = block.ok ? await chain.importBlock(block.value) : block;
    if (!imported.ok) throw new Error(imported.error.message);
  }
});

function ask(): Promise<SimulationResult> {
  const calls = createInlineCalls({
    spec,
    gasCap: 0n,
    chain,
    threads: { run: async () => FROM_A_THREAD },
    nowMs: () => 0,
  });
  const overrides = { accounts: [{ address: ANYWHERE, code: BALANCE_OF_RICH }] };
  const blockNumber = chain.head.header.number;
  return calls.run({ kind: "call", call: { to: ANYWHERE }, blockNumber, overrides }, somebody);
}

describe("calls while the state of the head is written", () => {
  it("go to a thread until a rewind has reached the head", async () => {
    const answers: SimulationResult[] = [];
    onWritten = async () => {
      answers.push(await ask());
    };
    await chain.rewind(0n);
    expect(answers).toEqual([FROM_A_THREAD]);
    onWritten = () => Promise.resolve();
    expect(await ask()).not.toEqual(FROM_A_THREAD);
  });

  it("go to a thread as long as the state is written anew", async () => {
    const answers: SimulationResult[] = [];
    onWritten = async () => {
      answers.push(await ask());
    };
    await chain.rebuildState();
    expect(answers).not.toEqual([]);
    for (const answer of answers) expect(answer).toBe(FROM_A_THREAD);
  });

  it("go to a thread, which reads the tries, where an entry of the head is lost", async () => {
    const batch = createBatch();
    batch.delete(accountKey(keccak256(RICH)));
    await database.write(batch);
    const again = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), database });
    chain = again.chain;
    expect(await ask()).toBe(FROM_A_THREAD);
  });
});
