import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AccountIndex, openAccountIndex } from "../../src/accounts/accountIndex.ts";
import { createIndexReader } from "../../src/accounts/indexReader.ts";
import { BLOCK_ENTRIES, putPlaced, readStatus } from "../../src/accounts/layout.ts";
import type { Chain } from "../../src/chain/createChain.ts";
import { ShownHead } from "../../src/chain/view/shownHead.ts";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_ADDRESS } from "../../src/config/devNetwork.ts";
import { EMPTY_BYTES, hexToBytes, toDigits } from "../../src/primitives/hex.ts";
import { Batch } from "../../src/storage/batch.ts";
import { RecordWriter } from "../../src/storage/blocks/byteRecord.ts";
import { sealEntry } from "../../src/storage/checksum.ts";
import type { DatabaseOnDisk } from "../../src/storage/database.ts";
import { bodyKey } from "../../src/storage/keys.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { type LoggedLine, loggedLines } from "../builders/loggedLines.ts";
import { commitBlock } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";
import { itIfThorough } from "../thorough.ts";

/** The index with its thread, over a chain of four payments in as many blocks. */

const START_SECONDS = 1_700_000_000;
const BLOCKS = 4;
const STATUS_KEY = Uint8Array.of(0x01);

let folder: string;
let chainDatabase: DatabaseOnDisk;
let chain: Chain;
let spec: ChainSpec;
let shownHead: ShownHead;
let clock: HandClock;
let logger: ReturnType<typeof loggedLines>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ibex-account-index-"));
  chainDatabase = await openLevelDatabase({ path: join(folder, "chain") });
  clock = createHandClock(START_SECONDS * 1000);
  logger = loggedLines();
  const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
  ({ chain, spec } = await aChain({
    genesis,
    database: chainDatabase,
    clock,
    builder: DEV_VALIDATOR_ADDRESS,
  }));
  for (let nonce = 0n; nonce < BLOCKS; nonce++) {
    const timestamp = BigInt(START_SECONDS) + nonce + 1n;
    clock.advanceTo(Number(timestamp) * 1000);
    await commitBlock(chain, timestamp, [aTransaction({ nonce, to: account(4).address })]);
  }
  shownHead = new ShownHead();
  shownHead.show(chain.head.hash);
});

afterEach(async () => {
  await chainDatabase.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(chainPath = join(folder, "chain")): Promise<AccountIndex> {
  const settings = { chainPath, indexPath: join(folder, "index"), maxBytes: 0 };
  const parts = { chain, spec, shownHead: shownHead.memory, clock, logger: logger.logger };
  return openAccountIndex(settings, parts);
}

/** Opens and builds the index, and returns all its entries of blocks. */
async function built(): Promise<readonly string[]> {
  const index = await open();
  index.start();
  await expect.poll(() => index.progress?.next).toBe(BLOCKS + 1);
  const entries: string[] = [];
  for await (const [key, value] of index.database.range(BLOCK_ENTRIES))
    entries.push(`${toDigits(key)} ${toDigits(value)}`);
  expect(readStatus(index.database)).toMatchObject({ next: BLOCKS + 1, isStale: false });
  await index.close();
  return entries;
}

/** Writes to the index while nobody has it open. */
async function change(put: (batch: Batch) => void): Promise<void> {
  const database = await openLevelDatabase({ path: join(folder, "index") });
  const batch = new Batch();
  put(batch);
  await database.write(batch);
  await database.close();
}

function warnings(): readonly LoggedLine[] {
  return logger.lines.filter(({ level }) => level !== "INFO");
}

describe("an index by address that cannot be used", () => {
  itIfThorough(
    "is built again at a start when it is of another version, or its status is damaged",
    async () => {
      const whole = await built();
      expect(whole).toHaveLength(2 * BLOCKS);
      const otherVersion = new RecordWriter();
      for (const number of [7, 1, BLOCKS + 1, 0]) otherVersion.number(number);
      const statuses = [sealEntry(STATUS_KEY, otherVersion.finish()), hexToBytes("0x0101050000000000")];
      for (const [at, status] of statuses.entries()) {
        await change((batch) => {
          batch.put(STATUS_KEY, status);
          putPlaced(batch, "participation", account(5).address, { block: 2, position: 0 });
        });
        expect(await built()).toEqual(whole);
        expect(warnings()).toHaveLength(at + 1);
      }
      expect(warnings().map(({ message }) => message)).toEqual(
        Array(2).fill("the explorer's index cannot be used and is being rebuilt"),
      );
      expect(warnings()[0]?.["throwable"]).toMatch(/has version 7, not 2\. .*delete explorer-index/);
      expect(warnings()[1]?.["throwable"]).toMatch(/entry 0x01 .* checksum\. .*delete explorer-index/);
    },
  );

  it("is built again when an entry that it needs turns out to be damaged, and says so once", async () => {
    const whole = await built();
    // Of the marks by which its blocks are compared with the chain's.
    await change((batch) => {
      for (let slot = 0; slot < 256; slot++) batch.put(Uint8Array.of(0x02, slot), EMPTY_BYTES);
    });
    expect(await built()).toEqual(whole);
    expect(warnings()).toMatchObject([
      { level: "WARN", message: "the explorer's index is damaged and is being rebuilt" },
    ]);
    expect(warnings()[0]?.["cause"]).toMatch(/does not match its checksum\. .*delete explorer-index/);
    expect(await built()).toEqual(whole);
    expect(warnings()).toHaveLength(1);
  });

  it("is built again when only a reader meets a damaged entry, and says so once", async () => {
    const whole = await built();
    const [first = ""] = whole;
    const key = hexToBytes(`0x${first.split(" ")[0]}`);
    await change((batch) => batch.put(key, EMPTY_BYTES));
    const index = await open();
    index.start();
    await expect.poll(() => index.progress?.next).toBe(BLOCKS + 1);
    expect(warnings()).toEqual([]);
    const reader = createIndexReader(
      async () => index.database,
      { path: join(folder, "index"), maxBytes: 0 },
      (damage) => index.reportDamage(damage),
    );
    const { address } = account(4);
    const read = () =>
      reader.read(chain, async (view) => {
        const found: number[] = [];
        for await (const { block } of view.placed("participation", address)) found.push(block);
        return found;
      });
    await Promise.all([0, 1, 2].map(() => expect(read()).rejects.toThrow(/does not match its checksum/)));
    await expect.poll(() => read().catch(() => [])).toEqual([1, 2, 3, 4]);
    await expect.poll(() => warnings().length).toBe(1);
    expect(warnings()[0]).toMatchObject({
      level: "WARN",
      message: "the explorer's index is damaged and is being rebuilt",
    });
    await index.close();
    expect(await built()).toEqual(whole);
    expect(warnings()).toHaveLength(1);
  });

  itIfThorough("waits, and says so once, when the chain is damaged", async () => {
    await chainDatabase.write(batchWithout(bodyKey(2n, 0)));
    const index = await open();
    index.start();
    await expect.poll(() => warnings().length).toBe(1);
    expect(warnings()[0]).toMatchObject({
      level: "ERROR",
      message: "the explorer's index has stopped, because data is damaged",
    });
    expect(warnings()[0]?.["throwable"]).toMatch(/body of block 2 is missing/);
    expect(clock.nextAlarmMs).toBeUndefined();
    await index.close();
  });

  it("is tried again after another failure, whose cause is told once", async () => {
    const index = await open(join(folder, "nowhere"));
    index.start();
    for (const delayMs of [1_000, 2_000, 4_000]) {
      await expect.poll(() => clock.nextAlarmMs).toBe(clock.nowMs() + delayMs);
      clock.advanceBy(delayMs);
    }
    await expect.poll(() => clock.nextAlarmMs).toBe(clock.nowMs() + 8_000);
    expect(warnings()).toMatchObject([{ level: "WARN", retryMs: 1_000 }]);
    await index.close();
  });
});

function batchWithout(key: Uint8Array): Batch {
  const batch = new Batch();
  batch.delete(key);
  return batch;
}
