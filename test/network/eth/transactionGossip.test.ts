import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { asHash, type Hash } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import type { Transaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { itIfThorough } from "../../thorough.ts";
import { describeWithVectors } from "../../vectors.ts";
import { createToyEth, type RemotePeer, settled, type ToyEth } from "./toyEth.ts";

async function withPeers(count: number): Promise<{ toy: ToyEth; ends: RemotePeer[] }> {
  const toy = createToyEth();
  const ends: RemotePeer[] = [];
  for (let number = 1; number <= count; number++) ends.push(await toy.connectReady(number));
  return { toy, ends };
}

const fullCopies = ({ received }: RemotePeer): string[] =>
  received.flatMap((message) =>
    message.kind === "transactions" ? message.transactions.map(({ hash }) => toHex(hash)) : [],
  );
const hashesOnly = ({ received }: RemotePeer): string[] =>
  received.flatMap((message) =>
    message.kind === "newPooledTransactionHashes" ? message.announcements.map(({ hash }) => toHex(hash)) : [],
  );
const asked = ({ received }: RemotePeer): string[] =>
  received.flatMap((message) => (message.kind === "getPooledTransactions" ? message.hashes.map(toHex) : []));
const announcementOf = ({ type, hash, raw }: Transaction) => ({ type, hash, size: raw.length });

/** Some at a time: each call for random bytes takes many microseconds. */
function randomHashes(count: number): readonly Hash[] {
  const bytes = new Uint8Array(randomBytes(32 * count));
  return Array.from({ length: count }, (_, at) => asHash(bytes.slice(32 * at, 32 * (at + 1))));
}

describeWithVectors("transactions", () => {
  const transaction = aTransaction({ nonce: 1n });
  const other = aTransaction({ nonce: 2n, type: 2 });

  it("from local callers go to each of a few peers in full", async () => {
    const { toy, ends } = await withPeers(8);
    toy.eth.announceTransactions([transaction]);
    toy.clock.advanceBy(20);
    expect(ends.map(fullCopies)).toEqual(ends.map(() => [toHex(transaction.hash)]));
    expect(ends.flatMap(hashesOnly)).toEqual([]);
  });

  it("from a peer are announced to the other few by hash", async () => {
    const { toy, ends } = await withPeers(3);
    ends[0]?.send({ kind: "transactions", transactions: [transaction] });
    toy.eth.announceTransactions([transaction, other]);
    toy.clock.advanceBy(20);
    expect(ends.map(fullCopies)).toEqual(ends.map(() => [toHex(other.hash)]));
    expect(ends.map(hashesOnly)).toEqual([[], [toHex(transaction.hash)], [toHex(transaction.hash)]]);
  });

  it("are announced by hash alone to peers of eth/66 and eth/67, with type and size to others", async () => {
    const toy = createToyEth();
    const ends: RemotePeer[] = [];
    for (const version of [68, 66, 67, 68] as const)
      ends.push(await toy.connectReady(ends.length + 1, { version }));
    ends[0]?.send({ kind: "transactions", transactions: [transaction] });
    toy.eth.announceTransactions([transaction]);
    toy.clock.advanceBy(20);
    const announced = ends.map(({ received }) => received.filter(({ kind }) => kind.endsWith("Hashes")));
    const bare = [{ kind: "bareTransactionHashes", hashes: [transaction.hash] }];
    const detailed = [{ kind: "newPooledTransactionHashes", announcements: [announcementOf(transaction)] }];
    expect(announced).toEqual([[], bare, bare, detailed]);
  });

  it("announced by hash alone are requested, from peers of any version", async () => {
    const toy = createToyEth();
    const older = await toy.connectReady(1, { version: 66 });
    const newer = await toy.connectReady(2);
    older.send({ kind: "bareTransactionHashes", hashes: [transaction.hash, other.hash] });
    newer.send({ kind: "newPooledTransactionHashes", announcements: [announcementOf(other)] });
    toy.clock.advanceBy(500);
    expect(asked(older)).toEqual([toHex(transaction.hash), toHex(other.hash)]);
    expect(asked(newer)).toEqual([]);
    const { requestId } = older.last("getPooledTransactions");
    older.send({ kind: "pooledTransactions", requestId, transactions: [transaction, other] });
    await settled();
    expect(toy.pool.offered).toHaveLength(2);
  });

  it("go in full to about the square root of many peers, and by hash to the rest", async () => {
    const { toy, ends } = await withPeers(10);
    toy.eth.announceTransactions([transaction]);
    toy.clock.advanceBy(20);
    expect(ends.filter((end) => fullCopies(end).length === 1)).toHaveLength(3);
    expect(ends.filter((end) => hashesOnly(end).length === 1)).toHaveLength(7);
  });

  it("are collected for a moment, and sent in few messages", async () => {
    const { toy, ends } = await withPeers(1);
    toy.eth.announceTransactions([transaction]);
    toy.eth.announceTransactions([other]);
    toy.clock.advanceBy(20);
    expect(ends[0]?.last("transactions").transactions).toHaveLength(2);
  });

  it("do not go back to their sender, nor twice to any peer", async () => {
    const { toy, ends } = await withPeers(2);
    ends[0]?.send({ kind: "transactions", transactions: [transaction] });
    expect(toy.pool.offered.map(({ hash }) => hash)).toEqual([transaction.hash]);
    for (let count = 0; count < 2; count++) {
      toy.eth.announceTransactions([transaction]);
      toy.clock.advanceBy(20);
    }
    const received = ends.map((end) => fullCopies(end).length + hashesOnly(end).length);
    expect(received).toEqual([0, 1]);
  });

  it("with blobs are not sent, because their blobs are not kept", async () => {
    const { toy, ends } = await withPeers(1);
    toy.eth.announceTransactions([aTransaction({ type: 3 })]);
    toy.clock.advanceBy(20);
    expect(ends.flatMap((end) => [...fullCopies(end), ...hashesOnly(end)])).toEqual([]);
  });

  it("of the whole pool are announced to a new peer", async () => {
    const toy = createToyEth();
    toy.pool.put(transaction);
    toy.pool.put(other);
    const end = await toy.connectReady(1);
    expect(hashesOnly(end)).toEqual([toHex(transaction.hash), toHex(other.hash)]);
  });

  itIfThorough(
    "of a large pool are announced a message at a time, within the time that the peer has",
    async () => {
      const toy = createToyEth();
      const pooled = Array.from({ length: 9_000 }, (_, nonce) => aTransaction({ nonce: BigInt(nonce) }));
      for (const one of pooled) toy.pool.put(one);
      const end = toy.connect(1);
      const held: (() => void)[] = [];
      Object.assign(end.session.share, { take: (work: () => void) => held.push(work) });
      end.sendStatus();
      const announced: number[] = [];
      for (let slice = 0; slice < 10; slice++) {
        announced.push(hashesOnly(end).length);
        const work = held.shift();
        if (work === undefined) break;
        work();
      }
      expect(announced).toEqual([4_096, 8_192, 9_000, 9_000]);
      expect(new Set(hashesOnly(end))).toEqual(new Set(pooled.map(({ hash }) => toHex(hash))));
    },
  );

  it("that were announced are requested within 500 ms, from one peer, and offered to the pool", async () => {
    const { toy, ends } = await withPeers(2);
    for (const end of ends)
      end.send({
        kind: "newPooledTransactionHashes",
        announcements: [transaction, other].map(announcementOf),
      });
    toy.clock.advanceBy(500);
    expect(ends.map(asked)).toEqual([[toHex(transaction.hash), toHex(other.hash)], []]);
    ends[0]?.send({ kind: "pooledTransactions", requestId: 1n, transactions: [transaction, other] });
    await settled();
    expect(toy.pool.offered.map(({ hash }) => hash)).toEqual([transaction.hash, other.hash]);
    toy.clock.advanceBy(1000);
    expect(ends[1] && asked(ends[1])).toEqual([]);
  });

  it("that were announced wait while the full pool takes nothing, and so do those that it had no place for", async () => {
    const { toy, ends } = await withPeers(1);
    const [end] = ends;
    toy.pool.offer = (transactions) => ({ accepted: 0, rejected: 0, withoutPlace: transactions });
    end?.send({ kind: "transactions", transactions: [transaction] });
    await settled();
    toy.pool.isSaturated = true;
    end?.send({ kind: "newPooledTransactionHashes", announcements: [other].map(announcementOf) });
    toy.clock.advanceBy(5_000);
    expect(ends.map(asked)).toEqual([[]]);
    expect(end).toMatchObject({ reason: undefined, penalties: 0 });
    toy.pool.isSaturated = false;
    toy.clock.advanceBy(500);
    expect(ends.map(asked)).toEqual([[toHex(transaction.hash), toHex(other.hash)]]);
  });

  it("that were announced in great number are requested without a pause", async () => {
    const { toy, ends } = await withPeers(1);
    const many = Array.from({ length: 300 }, (_, index) => aTransaction({ nonce: BigInt(index) }));
    ends[0]?.send({ kind: "newPooledTransactionHashes", announcements: many.map(announcementOf) });
    toy.clock.advanceBy(500);
    ends[0]?.send({ kind: "pooledTransactions", requestId: 1n, transactions: many.slice(0, 256) });
    await settled();
    expect(ends[0] && asked(ends[0])).toEqual(many.map(({ hash }) => toHex(hash)));
  });

  it("that one peer does not return are requested from the other", async () => {
    const { toy, ends } = await withPeers(2);
    for (const end of ends)
      end.send({ kind: "newPooledTransactionHashes", announcements: [announcementOf(transaction)] });
    toy.clock.advanceBy(500);
    ends[0]?.send({ kind: "pooledTransactions", requestId: 1n, transactions: [] });
    await settled();
    toy.clock.advanceBy(500);
    expect(ends.map(asked)).toEqual([[toHex(transaction.hash)], [toHex(transaction.hash)]]);
    expect(ends[0]?.reason).toBeUndefined();
  });

  it("that a slow peer holds back are requested from the others first, and then from it again", async () => {
    const { toy, ends } = await withPeers(2);
    const [slow, late] = ends as [RemotePeer, RemotePeer];
    const announcements = [announcementOf(transaction)];
    slow.send({ kind: "newPooledTransactionHashes", announcements });
    toy.clock.advanceBy(500);
    toy.clock.advanceBy(5_000);
    await settled();
    late.send({ kind: "newPooledTransactionHashes", announcements });
    toy.clock.advanceBy(500);
    expect(ends.map(asked)).toEqual([[toHex(transaction.hash)], [toHex(transaction.hash)]]);
    late.send({ kind: "pooledTransactions", requestId: 1n, transactions: [] });
    await settled();
    toy.clock.advanceBy(500);
    expect(asked(slow)).toHaveLength(2);
    slow.send({ kind: "pooledTransactions", requestId: 2n, transactions: [transaction] });
    await settled();
    expect(toy.pool.offered.map(({ hash }) => hash)).toEqual([transaction.hash]);
  });

  it("announced in great number by a slow peer are all requested from it, at its own pace", async () => {
    const { toy, ends } = await withPeers(1);
    const [end] = ends as [RemotePeer];
    const many = Array.from({ length: 2_000 }, (_, index) => aTransaction({ nonce: BigInt(index) }));
    end.send({ kind: "newPooledTransactionHashes", announcements: many.map(announcementOf) });
    const byHash = new Map(many.map((one) => [toHex(one.hash), one]));
    const answered = new Set<bigint>();
    for (let round = 0; round < 4; round++) {
      toy.clock.advanceBy(4_000);
      for (const message of [...end.received]) {
        if (message.kind !== "getPooledTransactions" || answered.has(message.requestId)) continue;
        answered.add(message.requestId);
        const transactions = message.hashes.flatMap((hash) => byHash.get(toHex(hash)) ?? []);
        end.send({ kind: "pooledTransactions", requestId: message.requestId, transactions });
        await settled();
      }
    }
    expect(toy.pool.offered).toHaveLength(2_000);
  });

  it.each([
    ["another type", { type: 1 }],
    ["nine bytes more", { size: transaction.raw.length + 9 }],
    ["nine bytes fewer", { size: transaction.raw.length - 9 }],
  ])("that were announced with %s end the connection, and are not offered to the pool", async (_, change) => {
    const { toy, ends } = await withPeers(1);
    const announcements = [{ ...announcementOf(transaction), ...change }, announcementOf(other)];
    ends[0]?.send({ kind: "newPooledTransactionHashes", announcements });
    toy.clock.advanceBy(500);
    ends[0]?.send({ kind: "pooledTransactions", requestId: 1n, transactions: [other, transaction] });
    await settled();
    expect(ends[0]?.reason).toBe("uselessPeer");
    expect(toy.pool.offered).toEqual([]);
  });

  it("may differ from the announced size by a few bytes", async () => {
    const { toy, ends } = await withPeers(1);
    const announcements = [
      { ...announcementOf(transaction), size: transaction.raw.length + 8 },
      { ...announcementOf(other), size: other.raw.length - 8 },
    ];
    ends[0]?.send({ kind: "newPooledTransactionHashes", announcements });
    toy.clock.advanceBy(500);
    ends[0]?.send({ kind: "pooledTransactions", requestId: 1n, transactions: [transaction, other] });
    await settled();
    expect(ends[0]?.reason).toBeUndefined();
    expect(toy.pool.offered).toHaveLength(2);
  });

  it("that are announced and never come are asked for less and less, in the end a thousand a second", async () => {
    const { toy, ends } = await withPeers(1);
    const [end] = ends as [RemotePeer];
    let undelivered = 0;
    for (let round = 0; round < 30; round++) {
      const announcements = randomHashes(4_096).map((hash) => ({ type: 2, size: 110, hash }));
      end.send({ kind: "newPooledTransactionHashes", announcements });
      toy.clock.advanceBy(500);
      for (const message of end.received) {
        if (message.kind !== "getPooledTransactions") continue;
        undelivered += message.hashes.length;
        end.send({ kind: "pooledTransactions", requestId: message.requestId, transactions: [] });
        await settled();
      }
      end.received.length = 0;
    }
    // Those of some full blocks are forgiven: they may have been mined before they were fetched.
    expect(undelivered).toBeGreaterThan(16_384);
    expect(undelivered).toBeLessThan(16_384 + 15 * 1_024 + 4_096);
    expect(end.reason).toBeUndefined();
  });

  it("that were not requested are ignored in a response", async () => {
    const { toy, ends } = await withPeers(1);
    ends[0]?.send({ kind: "newPooledTransactionHashes", announcements: [announcementOf(transaction)] });
    toy.clock.advanceBy(500);
    ends[0]?.send({ kind: "pooledTransactions", requestId: 1n, transactions: [other] });
    await settled();
    expect(toy.pool.offered).toEqual([]);
  });

  it("from several peers are offered to the pool once, and again after a minute", async () => {
    const { toy, ends } = await withPeers(2);
    for (const end of ends) end.send({ kind: "transactions", transactions: [transaction] });
    expect(toy.pool.offered).toHaveLength(1);
    toy.clock.advanceBy(60_000);
    ends[0]?.send({ kind: "transactions", transactions: [transaction] });
    expect(toy.pool.offered).toHaveLength(2);
  });

  it("are neither accepted nor requested while the pool is closed", async () => {
    const { toy, ends } = await withPeers(1);
    toy.pool.isOpen = false;
    ends[0]?.send({ kind: "transactions", transactions: [transaction] });
    ends[0]?.send({ kind: "newPooledTransactionHashes", announcements: [announcementOf(other)] });
    toy.clock.advanceBy(1000);
    expect(toy.pool.offered).toEqual([]);
    expect(ends.map(asked)).toEqual([[]]);
  });

  it("are split into messages of at most 1 MiB", async () => {
    const { toy, ends } = await withPeers(1);
    const large = Array.from({ length: 5 }, (_, index) =>
      aTransaction({ nonce: BigInt(index), data: new Uint8Array(400_000) }),
    );
    toy.eth.announceTransactions(large);
    toy.clock.advanceBy(20);
    const sizes = ends[0]?.received.flatMap((message) =>
      message.kind === "transactions" ? [message.transactions.length] : [],
    );
    expect(sizes).toEqual([2, 2, 1]);
  });
});
