import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { LogSearch } from "../../src/logs/logSearch.ts";
import { type Logs, openLogs } from "../../src/logs/openLogs.ts";
import { QUICK_LANE } from "../../src/logs/searchLane.ts";
import { type Logger, silentLogger } from "../../src/observability/logger.ts";
import { systemClock } from "../../src/primitives/clock.ts";
import { joinPieces } from "../../src/primitives/jsonPieces.ts";
import type { Requester } from "../../src/primitives/requester.ts";
import { type ChainDatabase, openChainDatabase } from "../../src/storage/chainDatabase.ts";
import type { Log } from "../../src/types/log.ts";
import { aCaller } from "../builders/aCaller.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { aLongChain, type BlockContent, NOTHING } from "../builders/longChain.ts";
import { account } from "../builders/testAccounts.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { itIfThorough } from "../thorough.ts";

const OURS: Log = { address: account(3).address, topics: [], data: new Uint8Array(4) };
const FOR_OURS = { addresses: [OURS.address], topics: [] };
const EVERYTHING = { from: 0n, to: 1_000_000n };

/** A matching log in every 300th block. */
function contentOf(number: number): BlockContent {
  if (number % 300 !== 0) return NOTHING;
  return { transactions: [aTransaction({ nonce: BigInt(number) })], logs: [[OURS]] };
}

/** The only block whose receipts count as in memory. */
const IN_MEMORY = 2n;

interface StoredChain {
  readonly path: string;
  readonly stored: ChainDatabase;
  readonly chain: Chain;
  readonly caches: string;
}

async function aStoredChain(head: number, content = contentOf): Promise<StoredChain> {
  const path = temporaryFolder();
  const stored = await openChainDatabase({ path: join(path, "chain"), headFile: join(path, "head.log") });
  onTestFinished(() => stored.close());
  const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
  const chain = await aLongChain({ stored, head, contentOf: content, genesis });
  return { path, stored, chain, caches: join(path, "caches") };
}

function logsOf({ path, chain }: StoredChain, isIndexAutomatic = true, logger: Logger = silentLogger): Logs {
  const logs = openLogs(
    {
      databasePath: join(path, "chain"),
      bloomFolder: join(path, "caches"),
      isIndexAutomatic,
      indexDelayMs: 0,
    },
    {
      chain,
      blocks: { hasReceiptsInMemory: (number) => number === IN_MEMORY },
      clock: systemClock,
      logger,
    },
  );
  onTestFinished(() => logs.close());
  return logs;
}

const SEARCH_LIMIT = QUICK_LANE.running + QUICK_LANE.waiting;

function searchOf({ path, caches }: StoredChain): LogSearch {
  const search = new LogSearch({
    databasePath: join(path, "chain"),
    bloomFolder: caches,
    clock: systemClock,
    onInvalidSegment: () => undefined,
  });
  onTestFinished(() => search.close());
  return search;
}

/** Resolves when the thread that writes the index has ended. */
async function written({ index }: Logs): Promise<void> {
  await expect.poll(() => index.status.isIndexing, { interval: 5 }).toBe(false);
}

async function writtenUpTo(logs: Logs, block: bigint): Promise<void> {
  await expect.poll(() => logs.index.status.current, { interval: 5 }).toBe(block);
  await written(logs);
}

async function numbersFound({ find }: Pick<Logs, "find">): Promise<number[]> {
  const found = await find(FOR_OURS, EVERYTHING, aCaller);
  if (found.kind !== "found") throw new Error(found.kind);
  const logs = JSON.parse(`[${found.pieces.join(",")}]`) as { blockNumber: string }[];
  return logs.map(({ blockNumber }) => Number(blockNumber));
}

describe("the index of logs", () => {
  itIfThorough(
    "is written in the background, removed, written again on request, and repaired when damaged",
    async () => {
      const stored = await aStoredChain(2_100);
      const logs = logsOf(stored);
      const blooms = join(stored.caches, "logBloom-current.cache");
      const expected = [300, 600, 900, 1_200, 1_500, 1_800, 2_100];

      await writtenUpTo(logs, 1_999n);
      const whole = readFileSync(blooms);
      expect(whole.length).toBe(2_000 * 256);
      expect(logs.index.status).toEqual({ from: 0n, to: 0n, current: 1_999n, isIndexing: false });
      expect(await numbersFound(logs)).toEqual(expected);

      await logs.index.remove(0n, 2_100n);
      expect(readdirSync(stored.caches)).toEqual([]);
      expect(await numbersFound(logs)).toEqual(expected);

      expect(logs.index.generate(0n, 5_000n)).toBe(true);
      expect(logs.index.generate(0n, 5_000n)).toBe(false);
      expect(logs.index.repair(2_100n)).toBe(false);
      expect(logs.index.status).toMatchObject({ from: 0n, to: 5_000n, isIndexing: true });
      await written(logs);
      expect(readFileSync(blooms).equals(whole)).toBe(true);

      writeFileSync(blooms, new Uint8Array(whole.length));
      expect(await numbersFound(logs)).toEqual(expected);
      await written(logs);
      expect(readFileSync(blooms).equals(whole)).toBe(true);
    },
  );

  it("follows the chain, also backwards, and only when enabled", async () => {
    const stored = await aStoredChain(2_050);
    const logs = logsOf(stored);
    await writtenUpTo(logs, 1_999n);
    await stored.chain.rewind(1_250n);
    await written(logs);
    expect(readFileSync(join(stored.caches, "logBloom-current.cache")).length).toBe(1_000 * 256);
    expect(await numbersFound(logs)).toEqual([300, 600, 900, 1_200]);

    const disabled = logsOf({ ...stored, path: temporaryFolder() }, false);
    expect(disabled.index.status.isIndexing).toBe(false);
  });

  it("works without files when they cannot be written, and does not retry with every search", async () => {
    const stored = await aStoredChain(1_100);
    writeFileSync(stored.caches, "no folder");
    let warnings = 0;
    const logs = logsOf(stored, true, { ...silentLogger, warn: () => warnings++ });
    await expect.poll(() => warnings).toBe(1);
    expect(await numbersFound(logs)).toEqual([300, 600, 900]);
    logs.index.reportInvalid(0);
    expect(logs.index.status.isIndexing).toBe(false);
  });
});

describe("a search on another thread", () => {
  itIfThorough("answers many at once, each with its own logs", async () => {
    const stored = await aStoredChain(700);
    const logs = logsOf(stored, false);
    const answers = await Promise.all(Array.from({ length: 40 }, () => numbersFound(logs)));
    expect(answers).toEqual(Array.from({ length: 40 }, () => [300, 600]));
    expect(existsSync(stored.caches)).toBe(false);
  });

  itIfThorough("reads full blocks whose receipts are not in memory, however few they are", async () => {
    const logs = [Array<Log>(3000).fill(OURS)];
    const stored = await aStoredChain(4, (n) => ({
      transactions: [aTransaction({ nonce: BigInt(n) })],
      logs: n < 4 ? logs : [[OURS]],
    }));
    const read: bigint[] = [];
    const blockByNumber: Chain["blockByNumber"] = (number) => {
      read.push(number);
      return stored.chain.blockByNumber(number);
    };
    const { find } = logsOf({ ...stored, chain: { ...stored.chain, blockByNumber } }, false);
    for (const number of [1n, 2n, 3n, 4n]) {
      const found = await find(FOR_OURS, { from: number, to: number }, aCaller);
      const text = found.kind === "found" ? joinPieces(found.pieces) : "";
      const numbers = [...text.matchAll(/"blockNumber":"0x([0-9a-f]+)"/g)].map(([, digits]) => digits);
      expect(numbers).toEqual(Array(number < 4n ? 3000 : 1).fill(`${number}`));
    }
    expect(read).toEqual([IN_MEMORY, 4n]);
  });

  it("of one requester neither waits for another's many searches nor makes them fail", async () => {
    // Enough logs for several slices of a full search.
    const logs = [Array<Log>(100).fill(OURS)];
    const stored = await aStoredChain(20, (n) => ({
      transactions: [aTransaction({ nonce: BigInt(n) })],
      logs,
    }));
    const search = searchOf(stored);
    let isGone = false;
    const crowd: Requester = { remoteHost: "crowd", client: {}, isAbandoned: () => isGone };
    const ended: string[] = [];
    const find = async (requester: Requester, range = EVERYTHING) => {
      const { kind } = await search.find(FOR_OURS, range, requester);
      ended.push(`${requester.remoteHost} ${kind}`);
      return kind;
    };
    const crowded = Array.from({ length: SEARCH_LIMIT }, () => find(crowd));
    await find(aCaller, { from: 0n, to: 0n });
    expect(ended).toEqual(["somewhere found"]);
    isGone = true;
    expect(await Promise.all(crowded)).not.toContain("busy");
  });

  it("is refused when too many wait, stops when its requester is gone, and fails when the thread ends", async () => {
    const stored = await aStoredChain(700);
    const search = searchOf(stored);
    let isAbandoned = false;
    const requester = { ...aCaller, isAbandoned: () => isAbandoned };
    const asked = Array.from({ length: SEARCH_LIMIT + 1 }, () =>
      search.find(FOR_OURS, EVERYTHING, requester),
    );
    expect((await asked.at(-1))?.kind).toBe("busy");
    isAbandoned = true;
    const kinds = new Set((await Promise.all(asked)).map(({ kind }) => kind));
    expect([...kinds].sort()).toContain("busy");
    isAbandoned = false;
    const last = search.find(FOR_OURS, EVERYTHING, requester);
    await search.close();
    await expect(last).rejects.toThrow("the thread ended");
    await expect(search.find(FOR_OURS, EVERYTHING, requester)).rejects.toThrow("closed");
  });
});
