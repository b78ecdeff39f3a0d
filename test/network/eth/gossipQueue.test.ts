import { describe, expect, it } from "vitest";
import { GossipQueue } from "../../../src/network/eth/gossipQueue.ts";
import {
  FIRST_BATCH,
  HIGHEST_TRANSACTION_SCORE,
  IGNORED_SCORE,
  LARGEST_BATCH,
  MAX_REJECTED_OF_MESSAGE,
  SCORE_LEAK_PER_SECOND,
} from "../../../src/network/eth/limits.ts";
import { readTransactionsOneByOne } from "../../../src/network/eth/payloadReaders.ts";
import { TransactionScore } from "../../../src/network/eth/transactionScore.ts";
import { encodeRlpIndex, encodeRlpList } from "../../../src/primitives/rlp.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { itIfThorough } from "../../thorough.ts";

const ONE = aTransaction().raw;
/** A message of `count` transactions of equal length. */
const message = (count: number): Uint8Array => encodeRlpList(Array.from({ length: count }, () => ONE));

/** A queue whose validation accepts a share of a peer's transactions, and responds later. */
function aQueue({ acceptedShare = 1 }: { readonly acceptedShare?: number } = {}) {
  let scheduled: (() => void)[] = [];
  let pending: (() => void)[] = [];
  const validated: string[] = [];
  const breaches: string[] = [];
  const dropped: string[] = [];
  const queue = new GossipQueue<string>({
    defer: (runScheduled) => scheduled.push(runScheduled),
    inShare: (_, work) => work(),
    open: (payload) => readTransactionsOneByOne(payload, { limit: 10_922, most: 2 ** 21 }),
    validate(peer, transactions) {
      validated.push(`${peer} ${transactions.length}`);
      const accepted = Math.round(transactions.length * acceptedShare);
      return new Promise((resolve) => {
        pending.push(() => resolve({ accepted: accepted, rejected: transactions.length - accepted }));
      });
    },
    onDropped: (peer) => void dropped.push(peer),
    onBreach: (peer, detail) => breaches.push(`${peer}: ${detail}`),
  });
  return Object.assign(queue, {
    validated: validated,
    breaches,
    dropped,
    total: (peer: string) =>
      validated
        .filter((one) => one.startsWith(peer))
        .reduce((sum, one) => sum + Number(one.split(" ")[1]), 0),
    runScheduled() {
      const now = scheduled;
      scheduled = [];
      for (const runScheduled of now) runScheduled();
    },
    async answer() {
      const now = pending;
      pending = [];
      for (const one of now) one();
      await new Promise((resolve) => setImmediate(resolve));
    },
    async runLoops(loops: number) {
      for (let loop = 0; loop < loops; loop++) {
        this.runScheduled();
        await this.answer();
      }
    },
  });
}

describe("unsolicited transactions", () => {
  it("are read in a later slice, in batches that grow while they are accepted", async () => {
    const queue = aQueue();
    queue.enqueue("a", message(2000));
    expect(queue.validated).toEqual([]);
    queue.runScheduled();
    expect(queue.validated).toEqual([`a ${FIRST_BATCH}`]);
    // The batch in progress is awaited.
    queue.runScheduled();
    expect(queue.validated).toHaveLength(1);
    await queue.runLoops(20);
    expect(queue.validated.slice(0, 4)).toEqual(["a 64", "a 128", "a 256", `a ${LARGEST_BATCH}`]);
    expect(queue.total("a")).toBe(2000);
  });

  it.each([1, 0.5])("are read to the end when this share is accepted: %s", async (acceptedShare) => {
    const queue = aQueue({ acceptedShare });
    for (const count of [10_900, 100]) queue.enqueue("a", message(count));
    await queue.runLoops(300);
    expect(queue.total("a")).toBe(11_000);
  });

  it.each([0, 0.3])(
    "are abandoned when too many are rejected, and the next message is read: %s",
    async (acceptedShare) => {
      const queue = aQueue({ acceptedShare });
      queue.enqueue("a", message(10_900));
      queue.enqueue("a", message(1));
      await queue.runLoops(300);
      const most = MAX_REJECTED_OF_MESSAGE / (1 - acceptedShare) + FIRST_BATCH;
      expect(queue.total("a")).toBeLessThanOrEqual(most + 1);
      expect(queue.validated.at(-1)).toBe("a 1");
    },
  );

  it("of one peer do not delay those of another", async () => {
    const queue = aQueue();
    for (let index = 0; index < 3; index++) queue.enqueue("a", message(10_000));
    queue.enqueue("b", message(3));
    queue.runScheduled();
    expect(queue.validated).toEqual(["a 64", "b 3"]);
  });

  itIfThorough("wait in bounded bytes, and are dropped when their peer leaves", async () => {
    const queue = aQueue();
    // One megabyte each, of which four may wait.
    const large = message(Math.floor(2 ** 20 / ONE.length));
    for (let index = 0; index < 10; index++) queue.enqueue("a", large);
    await queue.runLoops(2000);
    expect(queue.total("a")).toBe(4 * Math.floor(2 ** 20 / ONE.length));
    queue.enqueue("b", message(100));
    queue.runScheduled();
    queue.forget("b");
    await queue.runLoops(10);
    expect(queue.total("b")).toBe(FIRST_BATCH);
  });

  it("that are malformed end the connection, and the batch before them is validated", async () => {
    const queue = aQueue();
    const list = [...Array.from({ length: 100 }, () => ONE), encodeRlpIndex(9)];
    queue.enqueue("a", encodeRlpList(list));
    await queue.runLoops(5);
    expect([queue.total("a"), queue.breaches.length]).toEqual([FIRST_BATCH, 1]);
  });
});

describe("a peer's transaction score", () => {
  it("tolerates transactions superseded by blocks, and no lasting rejections", () => {
    let nowMs = 0;
    const score = new TransactionScore({ nowMs: () => nowMs });
    // A block per second, which invalidates a tenth of the transactions.
    for (let second = 0; second < 600; second++) {
      nowMs += 1000;
      score.note({ accepted: 900, rejected: 100 });
    }
    // And one that invalidates everything in flight.
    score.note({ accepted: 0, rejected: IGNORED_SCORE - 1 });
    expect([score.isIgnored, score.isAtLimit]).toEqual([false, false]);
    score.note({ accepted: 0, rejected: 64 });
    expect([score.isIgnored, score.isAtLimit]).toEqual([true, false]);
    nowMs += (2 * 64 * 1000) / SCORE_LEAK_PER_SECOND;
    expect(score.isIgnored).toBe(false);
    score.note({ accepted: 0, rejected: HIGHEST_TRANSACTION_SCORE });
    expect([score.isIgnored, score.isAtLimit]).toEqual([true, true]);
  });

  it("reaches its limit when the peer continues though it is ignored", () => {
    const score = new TransactionScore({ nowMs: () => 0 });
    score.note({ accepted: 0, rejected: IGNORED_SCORE });
    for (let count = 0; !score.isAtLimit; count++) {
      expect(count).toBeLessThan(20);
      score.noteIgnored();
    }
  });
});
