import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLogMatcher, createLogMatcherInSteps, type LogCriteria } from "../../src/logs/logMatcher.ts";
import { locateLogs } from "../../src/logs/logQuery.ts";
import { asAddress } from "../../src/primitives/address.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { asHash } from "../../src/primitives/hash.ts";
import { Batch } from "../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../src/storage/blocks/blockStore.ts";
import { type HeaderRecord, readHeader } from "../../src/storage/blocks/headerStore.ts";
import { type FoundLog, findLogsInSteps, type StoredLogTest } from "../../src/storage/blocks/storedLogs.ts";
import type { Database } from "../../src/storage/database.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import type { StoredBlock } from "../../src/types/block.ts";
import type { Log } from "../../src/types/log.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";
import { aTransaction } from "../builders/aTransaction.ts";

const TRANSACTION = aTransaction({ nonce: 0n });
const address = (byte: number) => asAddress(new Uint8Array(20).fill(byte));
const topic = (byte: number) => asHash(new Uint8Array(32).fill(byte));

const byte = fc.integer({ min: 0, max: 11 });
const log: fc.Arbitrary<Log> = fc.record({
  address: byte.map(address),
  topics: fc.array(byte.map(topic), { maxLength: 4 }),
  data: fc.uint8Array({ maxLength: 200 }),
});
/** Up to eleven entries, since more than a few are looked up in a set. Some topics have another length, and match nothing. */
const criteria: fc.Arbitrary<LogCriteria> = fc.record({
  addresses: fc.array(byte.map(address), { maxLength: 11 }),
  topics: fc.array(
    fc.oneof(
      fc.constant("any" as const),
      fc.array(fc.oneof(byte.map(topic), fc.constant(new Uint8Array(3))), { minLength: 1, maxLength: 11 }),
    ),
    { maxLength: 4 },
  ),
});

describe("a matcher of logs", () => {
  it("finds the same in stored receipts as in decoded ones", () => {
    const receipts = fc.array(fc.array(log, { maxLength: 5 }), { maxLength: 5 });
    fc.assert(
      fc.property(receipts, criteria, (logs, wanted) => {
        const block = aStoredBlock({ number: 1, transactions: logs.map(() => TRANSACTION), logs });
        const { matches, matchesStored, mayMatch } = createLogMatcher(wanted);
        const expected = [...locateLogs(block, matches)].map(
          ({ transactionHash, transactionIndex, logIndex, log: each }) => ({
            log: each,
            transactionHash,
            transactionIndex,
            logIndex,
          }),
        );
        expect(expected.length === 0 || mayMatch(block.header.logsBloom)).toBe(true);
        const { database, record } = stored(block);
        expect(found(database, record, matchesStored)).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it("is prepared in steps of few criteria", () => {
    const addresses = Array.from({ length: 10_000 }, (_, index) =>
      asAddress(Uint8Array.from({ length: 20 }, (_each, at) => (at < 18 ? 1 : index >> (8 * (at - 18))))),
    );
    expect([...createLogMatcherInSteps({ addresses, topics: [] })].length).toBeGreaterThan(10_000 / 256);
  });
});

describe("a search in stored receipts", () => {
  it("goes over so many logs in a step, and fewer of those that it is for", () => {
    const logs = Array.from({ length: 5_000 }, () => ({
      address: address(1),
      topics: [],
      data: new Uint8Array(),
    }));
    const { database, record } = stored(aStoredBlock({ transactions: [TRANSACTION], logs: [logs] }));
    expect(longestStep(database, record, () => false)).toBe(1024);
    expect(longestStep(database, record, () => true)).toBe(256);
  });

  it("finds the transactions of logs in every chunk, also where others between have none", () => {
    const transactions = Array.from({ length: 400 }, (_, nonce) => aTransaction({ nonce: BigInt(nonce) }));
    const withLogs = [0, 3, 127, 128, 390];
    const logs = transactions.map((_, index) =>
      withLogs.includes(index)
        ? [{ address: address(1), topics: [], data: new Uint8Array([index & 255]) }]
        : [],
    );
    const block = aStoredBlock({ transactions, logs });
    const { database, record } = stored(block);
    expect(found(database, record, () => true)).toEqual(
      withLogs.map((index, logIndex) => ({
        log: expectDefined(logs[index]?.[0], "the log"),
        transactionHash: expectDefined(transactions[index], "the transaction").hash,
        transactionIndex: index,
        logIndex,
      })),
    );
  });
});

function stored(block: StoredBlock): { readonly database: Database; readonly record: HeaderRecord } {
  const database = createMemoryDatabase();
  const batch = new Batch();
  new BlockStore(BLOCK_STORE_LIMITS, { database }).put(batch, block);
  void database.write(batch);
  return { database, record: expectDefined(readHeader(database, block.header.number), "the block") };
}

function found(database: Database, record: HeaderRecord, isWanted: StoredLogTest): readonly FoundLog[] {
  const logs: FoundLog[] = [];
  for (const _ of findLogsInSteps(database, record, isWanted, (each) => logs.push(each)));
  return logs;
}

/** Most logs that were looked at between two pauses. */
function longestStep(database: Database, record: HeaderRecord, isWanted: StoredLogTest): number {
  let [longest, count] = [0, 0];
  const counting: StoredLogTest = (...log) => {
    count++;
    return isWanted(...log);
  };
  for (const _ of findLogsInSteps(database, record, counting, () => undefined)) {
    longest = Math.max(longest, count);
    count = 0;
  }
  return longest;
}
