import { beforeEach, describe, expect, it } from "vitest";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { EMPTY_BYTES, toHex } from "../../../src/primitives/hex.ts";
import { joinPieces } from "../../../src/primitives/jsonPieces.ts";
import { Filters } from "../../../src/rpc/filters/filters.ts";
import { FILTER_LIFETIME_MS, FILTER_LIMIT } from "../../../src/rpc/filters/filterTable.ts";
import { HashHistory } from "../../../src/rpc/filters/hashHistory.ts";
import { packLogFilter } from "../../../src/rpc/filters/packedLogFilter.ts";
import { decodeLogFilter, type LogFilter } from "../../../src/rpc/parameters/logFilterParameter.ts";
import type { Log } from "../../../src/types/log.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aLogFinder } from "../../builders/aLogFinder.ts";
import { poolOf } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { account } from "../../builders/testAccounts.ts";

const TRANSFER = aTransaction();
const OURS: Log = { address: account(3).address, topics: [TRANSFER.hash], data: EMPTY_BYTES };
const OTHER: Log = { address: account(4).address, topics: [], data: EMPTY_BYTES };

/** Ten blocks, each with one log of our contract and one of another. */
const BLOCKS = Array.from({ length: 10 }, (_, number) =>
  aStoredBlock({ number, transactions: [TRANSFER], logs: [[OTHER, OURS]] }),
);

function logFilter(value: object): LogFilter {
  return expectDefined(decodeLogFilter(value), "the filter");
}

const OURS_ONLY = logFilter({ address: toHex(OURS.address) });

const HOST = "192.0.2.1";

describe("installed filters", () => {
  let nowMs = 0;
  const clock = { nowMs: () => nowMs };
  let chain = chainOf(BLOCKS);
  let pool = poolOf([]);
  let filters: Filters = new Filters({ chain, pool, clock, findLogs: aLogFinder(chain) });

  beforeEach(() => {
    nowMs = 1_000_000;
    chain = chainOf(BLOCKS);
    chain.moveHead(2);
    pool = poolOf([]);
    filters = new Filters({ chain, pool, clock, findLogs: aLogFinder(chain) });
  });

  /** JSON texts that a poll returned; undefined when there is no such filter. */
  async function poll(id: string): Promise<readonly string[] | undefined> {
    const changes = await filters.changes(id, aCaller);
    if (changes === undefined) return undefined;
    if (changes.kind !== "found") throw new Error(changes.kind);
    return changes.pieces.map((piece) => joinPieces([piece]));
  }

  function added(id: string | undefined): string {
    return expectDefined(id, "the id");
  }

  /** Block numbers of the logs that a poll returned; negative for removed logs. */
  async function polledLogs(id: string): Promise<number[]> {
    const texts = expectDefined(await poll(id), "the filter");
    const logs = JSON.parse(`[${texts.join(",")}]`) as {
      blockNumber: string;
      removed: boolean;
      logIndex: string;
    }[];
    expect(logs.every(({ logIndex }) => logIndex === "0x1")).toBe(true);
    return logs.map(({ blockNumber, removed }) => Number(blockNumber) * (removed ? -1 : 1));
  }

  function hashesOf(...numbers: readonly number[]): string[] {
    return numbers.map((number) => `"${toHex(expectDefined(BLOCKS[number], "the block").hash)}"`);
  }

  it("return each block after their creation once", async () => {
    const id = added(filters.addBlockFilter(HOST));
    expect(await poll(id)).toEqual([]);
    chain.moveHead(5);
    expect(await poll(id)).toEqual(hashesOf(3, 4, 5));
    expect(await poll(id)).toEqual([]);
    chain.moveHead(6);
    expect(await poll(id)).toEqual(hashesOf(6));
  });

  it("return only logs of blocks after their creation, whatever the start of their range", async () => {
    const id = added(filters.addLogFilter(packLogFilter({ ...OURS_ONLY, from: "earliest" }), HOST));
    chain.moveHead(5);
    expect(await polledLogs(id)).toEqual([3, 4, 5]);
    expect(await polledLogs(id)).toEqual([]);
  });

  it("stop at the end of their range", async () => {
    const id = added(filters.addLogFilter(packLogFilter({ ...OURS_ONLY, to: 4n }), HOST));
    chain.moveHead(8);
    expect(await polledLogs(id)).toEqual([3, 4]);
  });

  it("return all logs of their range, in which a tag means the current head", async () => {
    const wide = added(filters.addLogFilter(packLogFilter({ ...OURS_ONLY, from: "earliest" }), HOST));
    const tags = added(filters.addLogFilter(packLogFilter(OURS_ONLY), HOST));
    chain.moveHead(4);
    const numbers = async (id: string) => {
      const result = await filters.logs(id, aCaller);
      if (result?.kind !== "found") return undefined;
      const logs = JSON.parse(`[${result.pieces.join(",")}]`) as { blockNumber: string }[];
      return logs.map(({ blockNumber }) => Number(blockNumber));
    };
    expect(await numbers(wide)).toEqual([0, 1, 2, 3, 4]);
    expect(await numbers(tags)).toEqual([4]);
    expect(await numbers(added(filters.addBlockFilter(HOST)))).toBeUndefined();
    expect(await numbers("0x1")).toBeUndefined();
  });

  it("return the logs of removed blocks before those of new ones", async () => {
    const logs = added(filters.addLogFilter(packLogFilter(OURS_ONLY), HOST));
    const blocks = added(filters.addBlockFilter(HOST));
    const unread = added(filters.addBlockFilter(HOST));
    chain.moveHead(5);
    expect(await poll(blocks)).toEqual(hashesOf(3, 4, 5));
    expect(await polledLogs(logs)).toEqual([3, 4, 5]);
    chain.moveHead(6);
    chain.moveHead(3);
    chain.moveHead(4);
    expect(await polledLogs(logs)).toEqual([-4, -5, 4]);
    expect(await poll(blocks)).toEqual(hashesOf(4));
    expect(await poll(unread)).toEqual(hashesOf(3, 4));
  });

  it("give no log twice, and lose none, when the first of two polls at a time fails", async () => {
    const find = aLogFinder(chain);
    const failing: (() => void)[] = [];
    filters = new Filters({
      chain,
      pool,
      clock,
      findLogs: (...query) =>
        failing.length > 0
          ? find(...query)
          : new Promise((resolve) => failing.push(() => resolve({ kind: "busy" }))),
    });
    const id = added(filters.addLogFilter(packLogFilter(OURS_ONLY), HOST));
    chain.moveHead(3);
    const first = filters.changes(id, aCaller);
    await expect.poll(() => failing.length).toBe(1);
    chain.moveHead(5);
    const second = polledLogs(id);
    for (const fail of failing) fail();
    expect(await first).toEqual({ kind: "busy" });
    expect(await second).toEqual([3, 4, 5]);
    expect(await polledLogs(id)).toEqual([]);
  });

  it("return each transaction that entered the pool once", async () => {
    const first = added(filters.addPendingFilter(HOST));
    pool.arrive(TRANSFER);
    const second = added(filters.addPendingFilter(HOST));
    const later = aTransaction({ nonce: 1n });
    pool.arrive(later);
    expect(await poll(first)).toEqual([TRANSFER, later].map(({ hash }) => `"${toHex(hash)}"`));
    expect(await poll(second)).toEqual([`"${toHex(later.hash)}"`]);
    expect(await poll(first)).toEqual([]);
  });

  it("are found only by their exact id, until they are removed", async () => {
    const id = added(filters.addBlockFilter(HOST));
    expect(id).toMatch(/^0x[1-9a-f][0-9a-f]{0,31}$/);
    expect(await poll(`${id}0`)).toBeUndefined();
    expect(filters.remove(id)).toBe(true);
    expect(filters.remove(id)).toBe(false);
    expect(await poll(id)).toBeUndefined();
  });

  it("expire when they are not polled for ten minutes", async () => {
    const polled = added(filters.addBlockFilter(HOST));
    const idle = added(filters.addBlockFilter(HOST));
    nowMs += FILTER_LIFETIME_MS - 1;
    expect(await poll(polled)).toEqual([]);
    nowMs += 1;
    expect(await poll(idle)).toBeUndefined();
    expect(await poll(polled)).toEqual([]);
    nowMs += FILTER_LIFETIME_MS;
    expect(filters.remove(polled)).toBe(false);
    expect(await poll(polled)).toBeUndefined();
  });

  it("are bounded in number and in their criteria, half of which one host may have", () => {
    const heavy = { ...OURS_ONLY, addresses: Array.from({ length: 60_000 }, () => OURS.address) };
    expect(filters.addLogFilter(packLogFilter(heavy), HOST)).toBeDefined();
    expect(filters.addLogFilter(packLogFilter(heavy), HOST)).toBeDefined();
    expect(filters.addLogFilter(packLogFilter(heavy), HOST)).toBeUndefined();
    expect(filters.addLogFilter(packLogFilter(heavy), "192.0.2.2")).toBeDefined();
    const light = Array.from({ length: FILTER_LIMIT / 2 }, () => filters.addBlockFilter(HOST));
    expect(light.filter((id) => id === undefined)).toHaveLength(2);
    const [first = ""] = light;
    expect(filters.addBlockFilter("192.0.2.2")).toBeDefined();
    expect(filters.remove(first)).toBe(true);
    expect(filters.remove(first)).toBe(false);
  });
});

describe("the history of pooled transactions", () => {
  const hashes = Array.from({ length: 7 }, (_, nonce) => aTransaction({ nonce: BigInt(nonce) }).hash);

  it("keeps the last ones, and returns undefined when some were overwritten", () => {
    const history = new HashHistory(4);
    for (const hash of hashes.slice(0, 3)) history.push(hash);
    expect(history.since(0n)).toEqual(hashes.slice(0, 3));
    for (const hash of hashes.slice(3)) history.push(hash);
    expect(history.since(3n)).toEqual(hashes.slice(3));
    expect(history.since(history.end)).toEqual([]);
    expect(history.since(2n)).toBeUndefined();
  });
});
