import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_ADDRESS } from "../../src/config/devNetwork.ts";
import { StateRemover } from "../../src/state/removal/stateRemover.ts";
import { createBatch } from "../../src/storage/batch.ts";
import { DamagedData, type DatabaseOnDisk } from "../../src/storage/database.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { readStateBase } from "../../src/storage/stateBase.ts";
import { trieKeysBetween } from "../../src/storage/stateKeys.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { type LoggedLine, loggedLines } from "../builders/loggedLines.ts";
import { commitBlock } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";

/** The removal with its thread, over a chain of six payments in as many blocks, of which two states are kept. */

const START_SECONDS = 1_700_000_000;
const BLOCKS = 6;
const KEPT = 2n;
const START = BLOCKS - Number(KEPT);

let folder: string;
let database: DatabaseOnDisk;
let chain: Chain;
let clock: HandClock;
let logger: ReturnType<typeof loggedLines>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ibex-state-remover-"));
  database = await openLevelDatabase({ path: folder });
  clock = createHandClock(START_SECONDS * 1000);
  logger = loggedLines();
  const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
  ({ chain } = await aChain({ genesis, database, clock, builder: DEV_VALIDATOR_ADDRESS }));
  for (let nonce = 0n; nonce < BLOCKS; nonce++) {
    const timestamp = BigInt(START_SECONDS) + nonce + 1n;
    clock.advanceTo(Number(timestamp) * 1000);
    await commitBlock(chain, timestamp, [aTransaction({ nonce, to: account(4).address })]);
  }
  expect(await chain.keepStates(KEPT)).toMatchObject({ states: BigInt(START) });
});

afterEach(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

const remover = (path = folder): StateRemover =>
  new StateRemover({ path, kept: undefined }, { database, chain, clock, logger: logger.logger });

async function removablePages(): Promise<readonly (readonly [Uint8Array, Uint8Array])[]> {
  const pages: (readonly [Uint8Array, Uint8Array])[] = [];
  for await (const page of database.range(trieKeysBetween(0, START + 1))) pages.push(page);
  return pages;
}

const retries = (): readonly LoggedLine[] =>
  logger.lines.filter(({ message }) => message.includes("this is tried again"));

it("goes on with what an earlier run left, also once the option is no longer given", async () => {
  const removing = remover();
  await removing.begin((error) => expect.unreachable(String(error)));
  await expect.poll(() => readStateBase(database)).toBe(START);
  await expect.poll(async () => (await removablePages()).length).toBe(0);
  await removing.close();
});

it("ends the node when it meets damage, and does not try again", async () => {
  const batch = createBatch();
  for (const [key, value] of await removablePages())
    batch.put(
      key,
      value.map((byte) => byte ^ 1),
    );
  await database.write(batch);
  const failed = vi.fn<(error: unknown) => void>();
  const removing = remover();
  await removing.begin(failed);
  await expect.poll(() => failed.mock.calls.length).toBe(1);
  expect(failed.mock.calls[0]?.[0]).toBeInstanceOf(DamagedData);
  expect(retries()).toEqual([]);
  await removing.close();
});
