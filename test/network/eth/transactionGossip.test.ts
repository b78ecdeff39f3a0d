import { expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import type { Transaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { describeWithVectors } from "../../vectors.ts";
import { createToyEth, type OtherEnd, settled, type ToyEth } from "./toyEth.ts";

async function withPeers(count: number): Promise<{ toy: ToyEth; ends: OtherEnd[] }> {
  const toy = createToyEth();
  const ends: OtherEnd[] = [];
  for (let number = 1; number <= count; number++) ends.push(await toy.befriend(number));
  return { toy, ends };
}

const fullCopies = ({ heard }: OtherEnd): string[] =>
  heard.flatMap((message) =>
    message.kind === "transactions" ? message.transactions.map(({ hash }) => toHex(hash)) : [],
  );
const hashesOnly = ({ heard }: OtherEnd): string[] =>
  heard.flatMap((message) =>
    message.kind === "newPooledTransactionHashes" ? message.announcements.map(({ hash }) => toHex(hash)) : [],
  );
const asked = ({ heard }: OtherEnd): string[] =>
  heard.flatMap((message) => (message.kind === "getPooledTransactions" ? message.hashes.map(toHex) : []));
const announcementOf = ({ type, hash, raw }: Transaction) => ({ type, hash, size: raw.length });

describeWithVectors("transactions", () => {
  const transaction = aTransaction({ nonce: 1n });
  const other = aTransaction({ nonce: 2n, type: 2 });

  it("of our callers go to each of a few peers in full", async () => {
    const { toy, ends } = await withPeers(8);
    toy.eth.announceTransactions([transaction]);
    toy.clock.advanceBy(20);
    expect(ends.map(fullCopies)).toEqual(ends.map(() => [toHex(transaction.hash)]));
    expect(ends.flatMap(hashesOnly)).toEqual([]);
  });

  it("of a peer are announced to the other few by hash", async () => {
    const { toy, ends } = await withPeers(3);
    ends[0]?.say({ kind: "transactions", transactions: [transaction] });
    toy.eth.announceTransactions([transaction, other]);
    toy.clock.advanceBy(20);
    expect(ends.map(fullCopies)).toEqual(ends.map(() => [toHex(other.hash)]));
    expect(ends.map(hashesOnly)).toEqual([[], [toHex(transaction.hash)], [toHex(transaction.hash)]]);
  });

  it("go in full to about the square root of many peers, and by hash to the rest", async () => {
    const { toy, ends } = await withPeers(10);
    toy.eth.announceTransactions([transaction]);
    toy.clock.advanceBy(20);
    expect(ends.filter((end) => fullCopies(end).length === 1)).toHaveLength(3);
    expect(ends.filter((end) => hashesOnly(end).length === 1)).toHaveLength(7);
  });

  it("are collected for a moment, and go out in few messages", async () => {
    const { toy, ends } = await withPeers(1);
    toy.eth.announceTransactions([transaction]);
    toy.eth.announceTransactions([other]);
    toy.clock.advanceBy(20);
    expect(ends[0]?.last("transactions").transactions).toHaveLength(2);
  });

  it("do not go to who sent them, nor twice to anybody", async () => {
    const { toy, ends } = await withPeers(2);
    ends[0]?.say({ kind: "transactions", transactions: [transaction] });
    expect(toy.pool.offered.map(({ hash }) => hash)).toEqual([transaction.hash]);
    for (let count = 0; count < 2; count++) {
      toy.eth.announceTransactions([transaction]);
      toy.clock.advanceBy(20);
    }
    const received = ends.map((end) => fullCopies(end).length + hashesOnly(end).length);
    expect(received).toEqual([0, 1]);
  });

  it("with blobs stay here, because their blobs are not kept", async () => {
    const { toy, ends } = await withPeers(1);
    toy.eth.announceTransactions([aTransaction({ type: 3 })]);
    toy.clock.advanceBy(20);
    expect(ends.flatMap((end) => [...fullCopies(end), ...hashesOnly(end)])).toEqual([]);
  });

  it("of the whole pool are announced to a newcomer", async () => {
    const toy = createToyEth();
    toy.pool.put(transaction);
    toy.pool.put(other);
    const end = await toy.befriend(1);
    expect(hashesOnly(end)).toEqual([toHex(transaction.hash), toHex(other.hash)]);
  });

  it("that were announced are asked for within 500 ms, of one peer, and handed to the pool", async () => {
    const { toy, ends } = await withPeers(2);
    for (const end of ends)
      end.say({
        kind: "newPooledTransactionHashes",
        announcements: [transaction, other].map(announcementOf),
      });
    toy.clock.advanceBy(500);
    expect(ends.map(asked)).toEqual([[toHex(transaction.hash), toHex(other.hash)], []]);
    ends[0]?.say({ kind: "pooledTransactions", requestId: 1n, transactions: [transaction, other] });
    await settled();
    expect(toy.pool.offered.map(({ hash }) => hash)).toEqual([transaction.hash, other.hash]);
    toy.clock.advanceBy(1000);
    expect(ends[1] && asked(ends[1])).toEqual([]);
  });

  it("that were announced in great number are asked for without a pause", async () => {
    const { toy, ends } = await withPeers(1);
    const many = Array.from({ length: 300 }, (_, index) => aTransaction({ nonce: BigInt(index) }));
    ends[0]?.say({ kind: "newPooledTransactionHashes", announcements: many.map(announcementOf) });
    toy.clock.advanceBy(500);
    ends[0]?.say({ kind: "pooledTransactions", requestId: 1n, transactions: many.slice(0, 256) });
    await settled();
    expect(ends[0] && asked(ends[0])).toEqual(many.map(({ hash }) => toHex(hash)));
  });

  it("that one peer does not give are asked of the other", async () => {
    const { toy, ends } = await withPeers(2);
    for (const end of ends)
      end.say({ kind: "newPooledTransactionHashes", announcements: [announcementOf(transaction)] });
    toy.clock.advanceBy(500);
    ends[0]?.say({ kind: "pooledTransactions", requestId: 1n, transactions: [] });
    await settled();
    toy.clock.advanceBy(500);
    expect(ends.map(asked)).toEqual([[toHex(transaction.hash)], [toHex(transaction.hash)]]);
    expect(ends[0]?.reason).toBeUndefined();
  });

  it("that a slow peer keeps are asked of the others first, and then of it again", async () => {
    const { toy, ends } = await withPeers(2);
    const [slow, late] = ends as [OtherEnd, OtherEnd];
    const announcements = [announcementOf(transaction)];
    slow.say({ kind: "newPooledTransactionHashes", announcements });
    toy.clock.advanceBy(500);
    toy.clock.advanceBy(5_000);
    await settled();
    late.say({ kind: "newPooledTransactionHashes", announcements });
    toy.clock.advanceBy(500);
    expect(ends.map(asked)).toEqual([[toHex(transaction.hash)], [toHex(transaction.hash)]]);
    late.say({ kind: "pooledTransactions", requestId: 1n, transactions: [] });
    await settled();
    toy.clock.advanceBy(500);
    expect(asked(slow)).toHaveLength(2);
    slow.say({ kind: "pooledTransactions", requestId: 2n, transactions: [transaction] });
    await settled();
    expect(toy.pool.offered.map(({ hash }) => hash)).toEqual([transaction.hash]);
  });

  it("of which a slow peer has announced very many are all asked of it, in its own time", async () => {
    const { toy, ends } = await withPeers(1);
    const [end] = ends as [OtherEnd];
    const many = Array.from({ length: 2_000 }, (_, index) => aTransaction({ nonce: BigInt(index) }));
    end.say({ kind: "newPooledTransactionHashes", announcements: many.map(announcementOf) });
    const byHash = new Map(many.map((one) => [toHex(one.hash), one]));
    const answered = new Set<bigint>();
    for (let round = 0; round < 4; round++) {
      toy.clock.advanceBy(4_000);
      for (const message of [...end.heard]) {
        if (message.kind !== "getPooledTransactions" || answered.has(message.requestId)) continue;
        answered.add(message.requestId);
        const transactions = message.hashes.flatMap((hash) => byHash.get(toHex(hash)) ?? []);
        end.say({ kind: "pooledTransactions", requestId: message.requestId, transactions });
        await settled();
      }
    }
    expect(toy.pool.offered).toHaveLength(2_000);
  });

  it("that were not asked for in an answer are left aside", async () => {
    const { toy, ends } = await withPeers(1);
    ends[0]?.say({ kind: "newPooledTransactionHashes", announcements: [announcementOf(transaction)] });
    toy.clock.advanceBy(500);
    ends[0]?.say({ kind: "pooledTransactions", requestId: 1n, transactions: [other] });
    await settled();
    expect(toy.pool.offered).toEqual([]);
  });

  it("are handed to the pool once by several peers, and again after a minute", async () => {
    const { toy, ends } = await withPeers(2);
    for (const end of ends) end.say({ kind: "transactions", transactions: [transaction] });
    expect(toy.pool.offered).toHaveLength(1);
    toy.clock.advanceBy(60_000);
    ends[0]?.say({ kind: "transactions", transactions: [transaction] });
    expect(toy.pool.offered).toHaveLength(2);
  });

  it("are neither taken nor asked for while the pool is closed", async () => {
    const { toy, ends } = await withPeers(1);
    toy.pool.isOpen = false;
    ends[0]?.say({ kind: "transactions", transactions: [transaction] });
    ends[0]?.say({ kind: "newPooledTransactionHashes", announcements: [announcementOf(other)] });
    toy.clock.advanceBy(1000);
    expect(toy.pool.offered).toEqual([]);
    expect(ends.map(asked)).toEqual([[]]);
  });

  it("fill messages of at most a MiB", async () => {
    const { toy, ends } = await withPeers(1);
    const large = Array.from({ length: 5 }, (_, index) =>
      aTransaction({ nonce: BigInt(index), data: new Uint8Array(400_000) }),
    );
    toy.eth.announceTransactions(large);
    toy.clock.advanceBy(20);
    const sizes = ends[0]?.heard.flatMap((message) =>
      message.kind === "transactions" ? [message.transactions.length] : [],
    );
    expect(sizes).toEqual([2, 2, 1]);
  });
});
