import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Indexer } from "../../src/accounts/indexer.ts";
import { readDay } from "../../src/accounts/statisticsLayout.ts";
import { ChainView } from "../../src/chain/view/chainView.ts";
import { ShownHead } from "../../src/chain/view/shownHead.ts";
import { DEV_VALIDATOR_ADDRESS } from "../../src/config/devNetwork.ts";
import { loadInterpreter } from "../../src/execution/blockSession.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../src/storage/blocks/blockStore.ts";
import type { DatabaseOnDisk } from "../../src/storage/database.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { genesisWith } from "../builders/genesisWith.ts";
import { createHandClock } from "../builders/handClock.ts";
import { commitBlock } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";

const START_SECONDS = 1_800_000_000;
const DAY_SECONDS = 86_400;

let folder: string;
let database: DatabaseOnDisk;
let index: DatabaseOnDisk;

beforeEach(async () => {
  await loadInterpreter();
  folder = mkdtempSync(join(tmpdir(), "ibex-huge-gas-"));
  database = await openLevelDatabase({ path: join(folder, "chain") });
  index = await openLevelDatabase({ path: join(folder, "index") });
});

afterEach(async () => {
  await database.close();
  await index.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A free creation whose init code is INVALID, which uses up all of the gas. */
function wasteful(sender: number, gasLimit: bigint) {
  const { privateKey } = account(sender);
  const init = { to: undefined, data: Uint8Array.of(0xfe), value: 0n };
  return aTransaction({ ...init, gasPrice: 0n, gasLimit, privateKey });
}

it("gas of more than 53 bits is used, stored, read back and summed up as it is", async () => {
  const clock = createHandClock(START_SECONDS * 1000);
  const genesis = JSON.stringify({ ...JSON.parse(genesisWith({})), gasLimit: "0x7fffffffffffffff" });
  const { chain, spec } = await aChain({ genesis, database, clock, builder: DEV_VALIDATOR_ADDRESS });
  const gas = 2n ** 61n + 1n;
  for (let number = 1; number <= 3; number++) {
    clock.advanceTo((START_SECONDS + number) * 1000);
    const body = [0, 1].map((each) => wasteful(2 * number + each, gas));
    await commitBlock(chain, BigInt(START_SECONDS + number), body);
  }
  expect(chain.head.header).toMatchObject({ number: 3n, gasUsed: 2n * gas });

  const { receipts } = new BlockStore(BLOCK_STORE_LIMITS, { database }).block(3n) ?? {};
  expect(receipts?.map(({ gasUsed, cumulativeGasUsed }) => [gasUsed, cumulativeGasUsed])).toEqual([
    [gas, gas],
    [gas, 2n * gas],
  ]);

  const shownHead = new ShownHead();
  shownHead.show(chain.head.hash);
  const view = new ChainView({ database, spec, shownHead, logger: silentLogger });
  view.refresh();
  const parts = { database: index, view, spec, maxBytes: 0, measure: async () => 0, nowMs: () => 0 };
  const indexer = new Indexer(parts);
  while (await indexer.step());
  view.close();
  expect(readDay(index, Math.floor(START_SECONDS / DAY_SECONDS))?.gasUsed).toBe(6n * gas);
});
