import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_ADDRESS } from "../../src/config/devNetwork.ts";
import { firstVersionWithPages } from "../../src/state/removal/pageRemoval.ts";
import { removeStates } from "../../src/state/removal/stateRemoval.ts";
import { StateRemover } from "../../src/state/removal/stateRemover.ts";
import { Batch } from "../../src/storage/batch.ts";
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
  logger.lines.filter(({ message }) => message.includes("retrying later"));

it("goes on with what an earlier run left, also once the option is no longer given", async () => {
  const removing = remover();
  await removing.begin((error) => expect.unreachable(String(error)));
  await expect.poll(() => readStateBase(database)).toBe(START);
  await expect.poll(async () => (await removablePages()).length).toBe(0);
  await removing.close();
});

it("tells where the states begin and how many blocks before still take room, as soon as the thread knows", async () => {
  const kept = { kept: undefined, start: BigInt(START) };
  const removing = remover();
  expect(removing.status).toEqual({ ...kept, left: undefined, nodes: 0, pages: 0 });
  await removing.begin((error) => expect.unreachable(String(error)));
  await expect.poll(() => removing.status).toMatchObject({ ...kept, left: 0 });
  const { nodes, pages } = removing.status;
  expect(nodes).toBeGreaterThan(0);
  expect(pages).toBeGreaterThanOrEqual(START);
  await removing.close();

  // Nothing is left for the next start.
  const again = remover();
  await again.begin((error) => expect.unreachable(String(error)));
  await expect.poll(() => again.status).toEqual({ ...kept, left: 0, nodes: 0, pages: 0 });
  await again.close();
});

it("counts down by the versions whose pages are gone", async () => {
  const lefts: number[] = [];
  expect(await firstVersionWithPages(database, START)).toBe(0);
  for await (const step of removeStates(database, { bytes: 1, operations: 1, compactedBytes: 1 }))
    if (step.kind === "wrote" && step.next !== undefined) lefts.push(START - step.next);
  expect(lefts).toEqual(lefts.toSorted((a, b) => b - a));
  expect([lefts[0], lefts.at(-1)]).toEqual([START, 0]);
  expect(await firstVersionWithPages(database, START)).toBe(START);
});

it("ends the node when it meets damage, and does not try again", async () => {
  const batch = new Batch();
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
