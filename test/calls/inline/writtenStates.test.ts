import { readFileSync } from "node:fs";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCallCostEstimate } from "../../../src/calls/inline/callCostEstimate.ts";
import { InlineCalls } from "../../../src/calls/inline/inlineCalls.ts";
import type { Chain } from "../../../src/chain/createChain.ts";
import type { ChainSpec } from "../../../src/chainspec/chainSpec.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { loadInterpreter } from "../../../src/execution/blockSession.ts";
import type { SimulationResult } from "../../../src/execution/simulation/callRequest.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { Batch } from "../../../src/storage/batch.ts";
import type { Database } from "../../../src/storage/database.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { accountKey } from "../../../src/storage/stateKeys.ts";
import { decodeBlock } from "../../../src/types/block.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";

const RICH = account(0).address;
const ANYWHERE = addressFromHex(`0x${"77".repeat(20)}`);
/** Returns the balance of the account that sends the blocks' transactions. */
const BALANCE_OF_RICH = hexToBytes(`73${toHex(RICH).slice(2)}315f5260205ff3`);
const FROM_THE_POOL: SimulationResult = { kind: "returned", data: hexToBytes("aa"), gas: 1n };

let chain: Chain;
let spec: ChainSpec;
let database: Database;
/** Called after each write, before the write resolves. */
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

function runCall(): Promise<SimulationResult> {
  const calls = new InlineCalls({
    spec,
    gasCap: 0n,
    chain,
    pool: { run: async () => FROM_THE_POOL },
    costs: createCallCostEstimate(() => 0),
    nowMs: () => 0,
  });
  const overrides = { accounts: [{ address: ANYWHERE, code: BALANCE_OF_RICH }] };
  const blockNumber = chain.head.header.number;
  return calls.run({ kind: "call", call: { to: ANYWHERE }, blockNumber, overrides }, aCaller);
}

describe("calls while the state of the head is written", () => {
  it("go to the worker pool until a rewind has reached the head", async () => {
    const results: SimulationResult[] = [];
    onWritten = async () => {
      results.push(await runCall());
    };
    await chain.rewind(0n);
    expect(results).toEqual([FROM_THE_POOL]);
    onWritten = () => Promise.resolve();
    expect(await runCall()).not.toEqual(FROM_THE_POOL);
  });

  it("go to the worker pool while the state is rebuilt", async () => {
    const results: SimulationResult[] = [];
    onWritten = async () => {
      results.push(await runCall());
    };
    await chain.rebuildState();
    expect(results).not.toEqual([]);
    for (const result of results) expect(result).toBe(FROM_THE_POOL);
  });

  it("go to the worker pool, which reads the tries, where an entry of the flat state is lost", async () => {
    const batch = new Batch();
    batch.delete(accountKey(keccak256(RICH)));
    await database.write(batch);
    const again = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), database });
    chain = again.chain;
    expect(await runCall()).toBe(FROM_THE_POOL);
  });
});
