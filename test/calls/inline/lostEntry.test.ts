import { readFileSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
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

beforeAll(loadInterpreter);

it("a call that meets a lost entry of the flat state goes to the worker pool, which reads the tries", async () => {
  const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
  const database = createMemoryDatabase();
  const { chain, spec } = await aChain({ genesis, database });
  for (const bytes of (await sealedDevBlocks([[aTransaction({ nonce: 0n })], []])).slice(1)) {
    const block = decodeBlock(bytes);
    const imported = block.ok ? await chain.importBlock(block.value) : block;
    if (!imported.ok) throw new Error(imported.error.message);
  }
  expect(await runCall(chain, spec)).not.toEqual(FROM_THE_POOL);
  const batch = new Batch();
  batch.delete(accountKey(keccak256(RICH)));
  await database.write(batch);
  const again = await aChain({ genesis, database });
  expect(await runCall(again.chain, spec)).toBe(FROM_THE_POOL);
});

function runCall(chain: Chain, spec: ChainSpec): Promise<SimulationResult> {
  const calls = new InlineCalls({
    spec,
    gasCap: 0n,
    chain,
    pool: { run: async () => FROM_THE_POOL },
    nowMs: () => 0,
  });
  const overrides = { accounts: [{ address: ANYWHERE, code: BALANCE_OF_RICH }] };
  const blockNumber = chain.head.header.number;
  return calls.run({ kind: "call", call: { to: ANYWHERE }, blockNumber, overrides }, aCaller);
}
