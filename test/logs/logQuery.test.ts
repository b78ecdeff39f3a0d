import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LocatedLog } from "../../src/chain/chainReader.ts";
import { createLogMatcher, type LogCriteria } from "../../src/logs/logMatcher.ts";
import { type BlockRange, queryLogs } from "../../src/logs/logQuery.ts";
import { asAddress } from "../../src/primitives/address.ts";
import { asHash, type Hash } from "../../src/primitives/hash.ts";
import { EMPTY_BYTES, equalBytes } from "../../src/primitives/hex.ts";
import type { StoredBlock } from "../../src/types/block.ts";
import type { Log } from "../../src/types/log.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { chainOf } from "../builders/recordedChain.ts";

const ANY: LogCriteria = { addresses: [], topics: [] };
const EVERYTHING = { take: () => true };

const address = (byte: number) => asAddress(new Uint8Array(20).fill(byte));
const topic = (byte: number): Hash => asHash(new Uint8Array(32).fill(byte));
const log = (from: number, ...topics: readonly number[]): Log => ({
  address: address(from),
  topics: topics.map(topic),
  data: EMPTY_BYTES,
});

/** Blocks of two transactions, with the given logs for each. */
function blocksWith(logs: readonly (readonly (readonly Log[])[])[]): StoredBlock[] {
  const transactions = [aTransaction({ nonce: 0n }), aTransaction({ nonce: 1n })];
  return logs.map((ofBlock, number) => aStoredBlock({ number, transactions, logs: ofBlock }));
}

async function found(
  blocks: readonly StoredBlock[],
  criteria: LogCriteria,
  range?: BlockRange,
): Promise<LocatedLog[]> {
  const whole = { from: 0n, to: BigInt(blocks.length) };
  const logs: LocatedLog[] = [];
  const take = (some: readonly LocatedLog[]): boolean => logs.push(...some) > 0;
  expect(await queryLogs(chainOf(blocks), createLogMatcher(criteria), range ?? whole, { take })).toBe(
    "completed",
  );
  return logs;
}

describe("a log query", () => {
  const blocks = blocksWith([
    [[log(1, 1)], []],
    [[log(2), log(1, 1, 2)], [log(1, 2, 2, 3)]],
    [[], [log(3, 9), log(1, 1)]],
  ]);

  it("finds logs in order, each with its position in transaction and block", async () => {
    const logs = await found(blocks, { ...ANY, addresses: [address(1)] });
    expect(logs.map((each) => [Number(each.blockNumber), each.transactionIndex, each.logIndex])).toEqual([
      [0, 0, 0],
      [1, 0, 1],
      [1, 1, 2],
      [2, 1, 1],
    ]);
    expect(
      logs.every(
        ({ removed, blockNumber, blockHash }) => !removed && blockHash === blocks[Number(blockNumber)]?.hash,
      ),
    ).toBe(true);
  });

  it("includes both ends of its range and stops at the head without an error", async () => {
    const numbers = async (from: bigint, to: bigint) =>
      (await found(blocks, ANY, { from, to })).map(({ blockNumber }) => blockNumber);
    expect(await numbers(1n, 1n)).toEqual([1n, 1n, 1n]);
    expect(await numbers(2n, 99n)).toEqual([2n, 2n]);
    expect(await numbers(2n, 1n)).toEqual([]);
    expect(await numbers(50n, 99n)).toEqual([]);
  });

  it("matches topics by position: any, one of several, none at all", async () => {
    const count = async (...topics: LogCriteria["topics"]) =>
      (await found(blocks, { ...ANY, topics })).length;
    expect(await count()).toBe(6);
    expect(await count("any")).toBe(5);
    expect(await count([topic(1)])).toBe(3);
    expect(await count([topic(1)], [topic(2)])).toBe(1);
    expect(await count("any", [topic(2)])).toBe(2);
    expect(await count([topic(1), topic(9)])).toBe(4);
    expect(await count("any", "any", "any")).toBe(1);
    expect(await count("any", "any", "any", "any")).toBe(0);
    expect(await count([])).toBe(0);
    expect(await count([topic(1).subarray(1)])).toBe(0);
  });

  it("finds exactly the logs that a check of every log finds", async () => {
    const byte = fc.integer({ min: 1, max: 4 });
    const anyLog = fc
      .tuple(byte, fc.array(byte, { maxLength: 4 }))
      .map(([from, topics]) => log(from, ...topics));
    const chain = fc.array(fc.array(fc.array(anyLog, { maxLength: 3 }), { maxLength: 2 }), {
      minLength: 1,
      maxLength: 6,
    });
    const several = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 12 });
    const criteria = fc.record({
      addresses: several.map((bytes) => bytes.map(address)),
      topics: fc.array(
        fc.oneof(
          fc.constant("any" as const),
          several.map((bytes) => bytes.map(topic)),
        ),
        { maxLength: 4 },
      ),
    });
    await fc.assert(
      fc.asyncProperty(chain, criteria, async (logs, wanted) => {
        const every = logs.flatMap((ofBlock) => ofBlock.flat());
        expect((await found(blocksWith(logs), wanted)).map((located) => located.log)).toEqual(
          every.filter((each) => matches(each, wanted)),
        );
      }),
    );
  });

  it("ends when there are too many logs, and when the requester is gone", async () => {
    const many = blocksWith(Array.from({ length: 300 }, () => [[log(1), log(1)]]));
    const range = { from: 0n, to: 299n };
    let received = 0;
    const take = (some: readonly LocatedLog[]): boolean => {
      received += some.length;
      return received < 10;
    };
    expect(await queryLogs(chainOf(many), createLogMatcher(ANY), range, { take })).toBe("tooManyLogs");
    expect(received).toBe(10);
    expect(
      await queryLogs(chainOf(many), createLogMatcher(ANY), range, {
        ...EVERYTHING,
        isAbandoned: () => true,
      }),
    ).toBe("abandoned");
  });

  it("passes the logs of one block in batches, and waits for the listener", async () => {
    const [block] = blocksWith([[Array<Log>(1000).fill(log(1)), [log(2)]]]);
    if (block === undefined) throw new Error("there is a block");
    const counts: number[] = [];
    let isTaking = false;
    const take = async (some: readonly LocatedLog[]): Promise<boolean> => {
      expect(isTaking).toBe(false);
      isTaking = true;
      await new Promise((resume) => setImmediate(resume));
      isTaking = false;
      return counts.push(some.length) > 0;
    };
    expect(await queryLogs(chainOf([block]), createLogMatcher(ANY), { from: 0n, to: 0n }, { take })).toBe(
      "completed",
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1001);
    expect(Math.max(...counts)).toBeLessThanOrEqual(100);
  });

  it("yields to the event loop during a long search", async () => {
    const many = blocksWith(Array.from({ length: 1000 }, () => []));
    let isOver = false;
    let yields = 0;
    const others = (): void => {
      yields++;
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    await queryLogs(chainOf(many), createLogMatcher(ANY), { from: 0n, to: 999n }, EVERYTHING);
    isOver = true;
    expect(yields).toBeGreaterThan(5);
  });

  it("lets other work run while it reads the receipts of one block, and passes over a block removed meanwhile", async () => {
    const [block] = blocksWith([[[log(1, 1)], []]]);
    if (block === undefined) throw new Error("no block");
    let steps = 0;
    const onDisk: StoredBlock = {
      ...block,
      *receiptsInSteps() {
        for (steps = 0; steps < 100; steps++) yield;
        return block.receipts;
      },
    };
    const stepsAtTurns: number[] = [];
    let isOver = false;
    const others = (): void => {
      stepsAtTurns.push(steps);
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    expect(await found([onDisk], ANY)).toHaveLength(1);
    isOver = true;
    const gaps = stepsAtTurns.map((at, turn) => at - (stepsAtTurns[turn - 1] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(16);

    const chain = chainOf([onDisk]);
    const shrinking = {
      ...chain,
      headerByNumber: (number: bigint) => (steps > 20 ? undefined : chain.headerByNumber(number)),
    };
    steps = 0;
    const taken: LocatedLog[] = [];
    const take = (some: readonly LocatedLog[]): boolean => taken.push(...some) > 0;
    expect(await queryLogs(shrinking, createLogMatcher(ANY), { from: 0n, to: 0n }, { take })).toBe(
      "completed",
    );
    expect([taken.length, steps]).toEqual([0, 23]);
  });
});

function matches(each: Log, { addresses, topics }: LogCriteria): boolean {
  const isOneOf = (list: readonly Uint8Array[], bytes: Uint8Array | undefined) =>
    bytes !== undefined && list.some((wanted) => equalBytes(wanted, bytes));
  if (addresses.length > 0 && !isOneOf(addresses, each.address)) return false;
  if (each.topics.length < topics.length) return false;
  return topics.every((choice, position) => choice === "any" || isOneOf(choice, each.topics[position]));
}
