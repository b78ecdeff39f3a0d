import { describe, expect, it } from "vitest";
import { createGossipQueue } from "../../../src/network/eth/gossipQueue.ts";
import {
  FIRST_BATCH,
  HIGHEST_TRANSACTION_SCORE,
  IGNORED_SCORE,
  LARGEST_BATCH,
  MAX_REJECTED_OF_MESSAGE,
  SCORE_LEAK_PER_SECOND,
} from "../../../src/network/eth/limits.ts";
import { readTransactionsOneByOne } from "../../../src/network/eth/payloadReaders.ts";
import { createTransactionScore } from "../../../src/network/eth/transactionScore.ts";
import { encodeRlpIndex, encodeRlpList } from "../../../src/primitives/rlp.ts";
import { aTransaction } from "../../builders/aTransaction.ts";

const ONE = aTransaction().raw;
/** A message of so many transactions, each as long as the others. */
const message = (count: number): Uint8Array => encodeRlpList(Array.from({ length: count }, () => ONE));

/** A node with one judge, which finds so many of a peer's transactions useful, and answers later. */
function aReading({ usefulShare = 1 }: { readonly usefulShare?: number } = {}) {
  let turns: (() => void)[] = [];
  let late: (() => void)[] = [];
  const judged: string[] = [];
  const breaches: string[] = [];
  const reading = createGossipQueue<string>({
    defer: (turn) => turns.push(turn),
    inShare: (_, work) => work(),
    open: (payload) => readTransactionsOneByOne(payload, { limit: 10_922, most: 2 ** 21 }),
    validate(peer, transactions) {
      judged.push(`${peer} ${transactions.length}`);
      const useful = Math.round(transactions.length * usefulShare);
      return new Promise((resolve) => {
        late.push(() => resolve({ accepted: useful, rejected: transactions.length - useful }));
      });
    },
    onBreach: (peer, detail) => breaches.push(`${peer}: ${detail}`),
  });
  return {
    ...reading,
    judged,
    breaches,
    total: (peer: string) =>
      judged.filter((one) => one.startsWith(peer)).reduce((sum, one) => sum + Number(one.split(" ")[1]), 0),
    turn() {
      const now = turns;
      turns = [];
      for (const turn of now) turn();
    },
    async answer() {
      const now = late;
      late = [];
      for (const one of now) one();
      await new Promise((resolve) => setImmediate(resolve));
    },
    async live(loops: number) {
      for (let loop = 0; loop < loops; loop++) {
        this.turn();
        await this.answer();
      }
    },
  };
}

describe("unasked transactions", () => {
  it("are read in another turn, a batch at a time and larger ones while they are of use", async () => {
    const reading = aReading();
    reading.enqueue("a", message(2000));
    expect(reading.judged).toEqual([]);
    reading.turn();
    expect(reading.judged).toEqual([`a ${FIRST_BATCH}`]);
    // What is judged is waited for.
    reading.turn();
    expect(reading.judged).toHaveLength(1);
    await reading.live(20);
    expect(reading.judged.slice(0, 4)).toEqual(["a 64", "a 128", "a 256", `a ${LARGEST_BATCH}`]);
    expect(reading.total("a")).toBe(2000);
  });

  it.each([1, 0.5])("are read to the end where of them so much is of use: %s", async (usefulShare) => {
    const reading = aReading({ usefulShare });
    for (const count of [10_900, 100]) reading.enqueue("a", message(count));
    await reading.live(300);
    expect(reading.total("a")).toBe(11_000);
  });

  it.each([0, 0.3])(
    "are left where too many are of no use, and the next message is read: %s",
    async (usefulShare) => {
      const reading = aReading({ usefulShare });
      reading.enqueue("a", message(10_900));
      reading.enqueue("a", message(1));
      await reading.live(300);
      const most = MAX_REJECTED_OF_MESSAGE / (1 - usefulShare) + FIRST_BATCH;
      expect(reading.total("a")).toBeLessThanOrEqual(most + 1);
      expect(reading.judged.at(-1)).toBe("a 1");
    },
  );

  it("of one peer do not keep those of another waiting", async () => {
    const reading = aReading();
    for (let index = 0; index < 3; index++) reading.enqueue("a", message(10_000));
    reading.enqueue("b", message(3));
    reading.turn();
    expect(reading.judged).toEqual(["a 64", "b 3"]);
  });

  it("wait in bounded bytes, and of a peer that has left are not read", async () => {
    const reading = aReading();
    // Each a megabyte, of which four may wait.
    const large = message(Math.floor(2 ** 20 / ONE.length));
    for (let index = 0; index < 10; index++) reading.enqueue("a", large);
    await reading.live(2000);
    expect(reading.total("a")).toBe(4 * Math.floor(2 ** 20 / ONE.length));
    reading.enqueue("b", message(100));
    reading.turn();
    reading.forget("b");
    await reading.live(10);
    expect(reading.total("b")).toBe(FIRST_BATCH);
  });

  it("that are none end the connection, and what came before them is judged", async () => {
    const reading = aReading();
    const list = [...Array.from({ length: 100 }, () => ONE), encodeRlpIndex(9)];
    reading.enqueue("a", encodeRlpList(list));
    await reading.live(5);
    expect([reading.total("a"), reading.breaches.length]).toEqual([FIRST_BATCH, 1]);
  });
});

describe("a peer's score", () => {
  it("bears what blocks overtake, and not what is useless for long", () => {
    let nowMs = 0;
    const score = createTransactionScore({ nowMs: () => nowMs });
    // A block a second, which makes a tenth of what is sent useless.
    for (let second = 0; second < 600; second++) {
      nowMs += 1000;
      score.note({ accepted: 900, rejected: 100 });
    }
    // And one that makes all useless that is on its way.
    score.note({ accepted: 0, rejected: IGNORED_SCORE - 1 });
    expect([score.isIgnored, score.isAtLimit]).toEqual([false, false]);
    score.note({ accepted: 0, rejected: 64 });
    expect([score.isIgnored, score.isAtLimit]).toEqual([true, false]);
    nowMs += (2 * 64 * 1000) / SCORE_LEAK_PER_SECOND;
    expect(score.isIgnored).toBe(false);
    score.note({ accepted: 0, rejected: HIGHEST_TRANSACTION_SCORE });
    expect([score.isIgnored, score.isAtLimit]).toEqual([true, true]);
  });

  it("ends with whoever goes on though nobody listens", () => {
    const score = createTransactionScore({ nowMs: () => 0 });
    score.note({ accepted: 0, rejected: IGNORED_SCORE });
    for (let count = 0; !score.isAtLimit; count++) {
      expect(count).toBeLessThan(20);
      score.noteIgnored();
    }
  });
});
