import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { LocatedLog } from "../../src/chain/chainReader.ts";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { createLogMatcher, type LogCriteria } from "../../src/logs/logMatcher.ts";
import { type BlockRange, queryLogs } from "../../src/logs/logQuery.ts";
import { ChainMoved, scanLogs } from "../../src/logs/logScan.ts";
import { CHUNK_BYTES, findSegment } from "../../src/storage/blooms/bloomFiles.ts";
import { BloomFileWriter } from "../../src/storage/blooms/bloomFileWriter.ts";
import { verifyChain } from "../../src/storage/chainDatabase.ts";
import { createMemoryDatabase, type MemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { BlockRemoved } from "../../src/types/blockRemoved.ts";
import type { Log } from "../../src/types/log.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { keepNewest } from "../builders/keepNewest.ts";
import { aLongChain, type BlockContent, NOTHING } from "../builders/longChain.ts";
import { createMemoryMarkerFile } from "../builders/memoryMarkerFile.ts";
import { account } from "../builders/testAccounts.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { itIfThorough } from "../thorough.ts";

const OURS: Log = { address: account(3).address, topics: [], data: new Uint8Array(4) };
const OTHER: Log = { ...OURS, address: account(4).address };
const HEAD = 2_200;

/** A log of ours in every 400th block of the first thousand, another's in every 7th block. */
function contentOf(number: number): BlockContent {
  const logs = [
    ...(number % 400 === 3 && number < 1_000 ? [OURS] : []),
    ...(number % 7 === 0 ? [OTHER] : []),
  ];
  return logs.length === 0
    ? NOTHING
    : { transactions: [aTransaction({ nonce: BigInt(number) })], logs: [logs] };
}

const FOR_OURS: LogCriteria = { addresses: [OURS.address], topics: [] };
const FOR_OTHERS: LogCriteria = { addresses: [OTHER.address], topics: [] };
const FOR_ALL: LogCriteria = { addresses: [], topics: [] };
const EVERYTHING: BlockRange = { from: 0n, to: 10_000n };

describe("a log scan", () => {
  let database: MemoryDatabase;
  let chain: Chain;

  beforeAll(async () => {
    database = createMemoryDatabase();
    chain = await aChainIn(database, HEAD, contentOf);
  });

  it.each([
    ["all blocks", EVERYTHING],
    ["blocks in the index alone", { from: 3n, to: 1_203n }],
    ["blocks after the index alone", { from: 2_001n, to: 2_150n }],
    ["part of a chunk, and what follows", { from: 1_190n, to: 2_100n }],
    ["one block", { from: 803n, to: 803n }],
    ["nothing", { from: 9n, to: 8n }],
    ["blocks to come", { from: 5_000n, to: 6_000n }],
    ["numbers below zero", { from: -9n, to: 10n }],
  ])("finds what a read of every block finds, in %s", async (_name, range) => {
    const folder = await anIndex(database);
    expect(findSegment(folder, 0)?.sums.chunks).toHaveLength(2);
    for (const criteria of [FOR_OURS, FOR_OTHERS, FOR_ALL]) {
      const { logs, invalid } = await scan(database, folder, criteria, range);
      expect(logs).toEqual(await everyLog(chain, criteria, range));
      expect(invalid).toEqual([]);
    }
  });

  it("reads no blooms of a chunk whose union rules it out", async () => {
    const folder = await anIndex(database);
    flip(join(folder, "logBloom-current.cache"), CHUNK_BYTES + 70_000);
    const { logs, invalid } = await scan(database, folder, FOR_OURS, { from: 1_500n, to: 2_100n });
    expect({ logs, invalid }).toEqual({ logs: [], invalid: [] });
  });

  it.each<[name: string, damage: (folder: string) => void, isReported: boolean]>([
    [
      "blooms with a flipped bit",
      (folder) => flip(join(folder, "logBloom-current.cache"), 803 * 256 + 9),
      true,
    ],
    [
      "blooms all zero",
      (folder) => writeFileSync(join(folder, "logBloom-current.cache"), new Uint8Array(2 * CHUNK_BYTES)),
      true,
    ],
    [
      "blooms cut short",
      (folder) => truncateSync(join(folder, "logBloom-current.cache"), CHUNK_BYTES + 5),
      false,
    ],
    ["no blooms", (folder) => rmSync(join(folder, "logBloom-current.cache")), false],
    ["sums with a flipped bit", (folder) => flip(join(folder, "logBloom-current.sums"), 100), false],
    ["sums cut short", (folder) => truncateSync(join(folder, "logBloom-current.sums"), 40), false],
    ["no sums, as in Besu's files", (folder) => rmSync(join(folder, "logBloom-current.sums")), false],
  ])("finds the same with %s", async (_name, damage, isReported) => {
    const folder = await anIndex(database);
    damage(folder);
    const { logs, invalid } = await scan(database, folder, FOR_OURS, EVERYTHING);
    expect(logs).toEqual(await everyLog(chain, FOR_OURS, EVERYTHING));
    expect(invalid).toEqual(isReported ? [0] : []);
    await new BloomFileWriter(folder, database).rewrite(0, async () => undefined);
    expect((await scan(database, folder, FOR_OURS, EVERYTHING)).invalid).toEqual([]);
  });

  it("ignores files of another chain, and repairs those of replaced blocks", async () => {
    const other = createMemoryDatabase();
    const otherChain = await aChainIn(other, HEAD, (number) =>
      number === 1_777 ? contentOf(803) : contentOf(number),
    );
    const folder = await anIndex(database);
    const { logs, invalid } = await scan(other, folder, FOR_OURS, EVERYTHING);
    expect(logs).toEqual(await everyLog(otherChain, FOR_OURS, EVERYTHING));
    expect(logs.map(({ blockNumber }) => blockNumber)).toContain(1_777n);
    expect(invalid).toEqual([0]);
    // The first thousand blocks are the same on both chains.
    const written: bigint[] = [];
    await new BloomFileWriter(folder, other).complete(0, async (block) => void written.push(block));
    expect(written).toEqual([1_999n]);
    expect(await scan(other, folder, FOR_OURS, EVERYTHING)).toEqual({ logs, invalid: [] });
  });

  it("throws when the chain is rewound during the scan", async () => {
    const copy = database.copy();
    const moving = await aChainIn(copy, HEAD, contentOf);
    const found = scanLogs({ database: copy, bloomFolder: temporaryFolder() }, FOR_OURS, EVERYTHING, {
      take: () => moving.rewind(2_000n),
      isOver: () => false,
      onInvalidSegment: () => undefined,
    });
    await expect(found).rejects.toThrow(ChainMoved);
  });

  itIfThorough(
    "has a file for each 100,000 blocks, which grows under another name until it is complete",
    async () => {
      const long = createMemoryDatabase();
      const content = (number: number) => (number % 9_973 === 0 ? contentOf(3) : NOTHING);
      await aChainIn(long, 99_998, content);
      const folder = temporaryFolder();
      const writer = new BloomFileWriter(folder, long);
      await writer.complete(0, async () => undefined);
      expect(readdirSync(folder).sort()).toEqual(["logBloom-current.cache", "logBloom-current.sums"]);
      const whole = await aChainIn(long, 101_500, content);
      await writer.complete(0, async () => undefined);
      expect(readdirSync(folder).sort()).toEqual(["logBloom-0.cache", "logBloom-0.sums"]);
      expect(statSync(join(folder, "logBloom-0.cache")).size).toBe(100_000 * 256);
      expect(await writer.complete(0, async () => undefined)).toBe(false);
      await writer.complete(1, async () => undefined);
      expect(findSegment(folder, 1)?.sums.chunks).toHaveLength(1);
      const range = { from: 0n, to: 200_000n };
      const { logs, invalid } = await scan(long, folder, FOR_OURS, range);
      expect(invalid).toEqual([]);
      expect(logs.map(({ blockNumber }) => Number(blockNumber))).toEqual(
        Array.from({ length: 10 }, (_, index) => (index + 1) * 9_973),
      );
      const written = readFileSync(join(folder, "logBloom-0.cache"));
      flip(join(folder, "logBloom-0.cache"), 9_973 * 256 + 100);
      expect((await scan(long, folder, FOR_OURS, range)).logs).toEqual(logs);
      await writer.rewrite(0, async () => undefined);
      expect(readFileSync(join(folder, "logBloom-0.cache")).equals(written)).toBe(true);
      expect(whole.head.header.number).toBe(101_500n);
    },
  );

  it("goes over the logs of one receipt in slices, and gives what it finds in parts", async () => {
    const many = createMemoryDatabase();
    const whole = await aChainIn(many, 1, () => ({
      transactions: [aTransaction({ nonce: 0n })],
      logs: [Array.from({ length: 4_000 }, () => OURS)],
    }));
    const parts: (readonly LocatedLog[])[] = [];
    let turns = 0;
    await scanLogs({ database: many, bloomFolder: temporaryFolder() }, FOR_OURS, EVERYTHING, {
      take: (logs) => void parts.push(logs),
      isOver: () => false,
      turn: async () => void turns++,
      onInvalidSegment: () => undefined,
    });
    expect(parts.flat()).toEqual(await everyLog(whole, FOR_OURS, EVERYTHING));
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(256);
    expect(turns).toBeGreaterThanOrEqual(7);
  });

  it("throws when the block that it reads is removed from the chain", async () => {
    const copy = createMemoryDatabase();
    const transaction = aTransaction({ nonce: 0n });
    // The receipts are stored in several chunks.
    const moving = await aChainIn(copy, 1, () => ({
      transactions: Array.from({ length: 300 }, () => transaction),
      logs: Array.from({ length: 300 }, () => [OURS]),
    }));
    const found = scanLogs({ database: copy, bloomFolder: temporaryFolder() }, FOR_OURS, EVERYTHING, {
      take: () => moving.rewind(0n),
      isOver: () => false,
      onInvalidSegment: () => undefined,
    });
    await expect(found).rejects.toThrow(ChainMoved);
  });

  it("says so when a block that may have such logs is removed for its age meanwhile", async () => {
    const removed = database.copy();
    const chain = await aChainIn(removed, HEAD, contentOf);
    await keepNewest(chain, 1_300n);
    const range = { from: 900n, to: BigInt(HEAD) };
    expect((await scan(removed, temporaryFolder(), FOR_OURS, range)).logs).toEqual([]);
    await expect(scan(removed, temporaryFolder(), FOR_OTHERS, { ...range, from: 890n })).rejects.toThrow(
      BlockRemoved,
    );
    await expect(everyLog(chain, FOR_OTHERS, range)).resolves.not.toEqual([]);
  });

  it("ends when the listener is done", async () => {
    let taken = 0;
    await scanLogs({ database, bloomFolder: temporaryFolder() }, FOR_OURS, EVERYTHING, {
      take: () => void taken++,
      isOver: () => taken > 0,
      onInvalidSegment: () => undefined,
    });
    expect(taken).toBe(1);
  });
});

async function aChainIn(
  database: MemoryDatabase,
  head: number,
  content: (number: number) => BlockContent,
): Promise<Chain> {
  const { headMarker } = await verifyChain(database, createMemoryMarkerFile());
  const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
  return aLongChain({ stored: { database, headMarker }, head, contentOf: content, genesis });
}

/** Bloom files of all full chunks. */
async function anIndex(database: MemoryDatabase): Promise<string> {
  const folder = temporaryFolder();
  expect(await new BloomFileWriter(folder, database).complete(0, async () => undefined)).toBe(true);
  return folder;
}

async function scan(database: MemoryDatabase, bloomFolder: string, criteria: LogCriteria, range: BlockRange) {
  const logs: LocatedLog[] = [];
  const invalid = new Set<number>();
  await scanLogs({ database, bloomFolder }, criteria, range, {
    take: (found) => void logs.push(...found),
    isOver: () => false,
    onInvalidSegment: (segment) => invalid.add(segment),
  });
  return { logs, invalid: [...invalid] };
}

async function everyLog(
  chain: Chain,
  criteria: LogCriteria,
  range: BlockRange,
): Promise<readonly LocatedLog[]> {
  const from = range.from < 0n ? 0n : range.from;
  const logs: LocatedLog[] = [];
  const take = (some: readonly LocatedLog[]): boolean => logs.push(...some) > 0;
  expect(await queryLogs(chain, createLogMatcher(criteria), { from, to: range.to }, { take })).toBe(
    "completed",
  );
  return logs;
}

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  writeFileSync(file, bytes);
}
