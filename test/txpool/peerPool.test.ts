import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/observability/logger.ts";
import type { TxPoolLimits } from "../../src/txpool/limits.ts";
import { PeerPool } from "../../src/txpool/peerPool.ts";
import type { SentTransaction, Transaction } from "../../src/types/transaction.ts";
import { aPool } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { recoverSignersHere } from "../builders/recoverSignersHere.ts";
import { accountFromSeed } from "../builders/testAccounts.ts";

/** Offers transactions to a pool whose chain has one funded account, and counts the recovered senders. */
function aPeerPool(limits: Partial<TxPoolLimits> = {}) {
  const { pool, head } = aPool({ limits });
  head.set(unfunded.address, { balanceWei: 0n });
  let recovered = 0;
  let onHead: (change: {
    readonly added: readonly { readonly transactions: readonly SentTransaction[] }[];
  }) => void;
  onHead = () => undefined;
  const peerPool = new PeerPool(
    {
      pool,
      chain: {
        onHeadChanged(_row, listener) {
          onHead = listener as typeof onHead;
          return () => undefined;
        },
      },
      recoverSigners(items) {
        recovered += items.length;
        return recoverSignersHere(items);
      },
      logger: silentLogger,
    },
    () => true,
  );
  return {
    pool,
    peerPool,
    head,
    mine: (transactions: readonly SentTransaction[]) => onHead({ added: [{ transactions }] }),
    async offer(transactions: readonly Transaction[], isAhead = false) {
      recovered = 0;
      const { accepted, rejected } = await peerPool.offer(transactions, { isAhead });
      return { accepted, rejected, recovered };
    },
  };
}

const unfunded = accountFromSeed(77);
const signedByNobody = (): Transaction =>
  aTransaction({ changeSignature: (signature) => ({ ...signature, r: 5n }) } as Parameters<
    typeof aTransaction
  >[0]);

describe("a full pool", () => {
  it("names what it has no place for, holds it against nobody, and is saturated until an entry leaves", async () => {
    const { pool, offer, peerPool } = aPeerPool({ maxTransactions: 1 });
    const [first, second] = [0, 1].map((seed) =>
      aTransaction({ privateKey: accountFromSeed(seed).privateKey }),
    );
    const [kept, late] = [first as SentTransaction, second as SentTransaction];
    pool.add(kept, "local");
    expect(peerPool.isSaturated).toBe(false);
    expect(await offer([late])).toEqual({ accepted: 0, rejected: 0, recovered: 1 });
    expect(await peerPool.offer([late], { isAhead: false })).toMatchObject({ withoutPlace: [late] });
    expect(peerPool.isSaturated).toBe(true);
    pool.drop(kept.hash, "it was mined");
    expect(peerPool.isSaturated).toBe(false);
    expect(await offer([late])).toMatchObject({ accepted: 1 });
  });
});

describe("a peer's transaction", () => {
  it("counts as accepted when the pool adds it", async () => {
    expect(await aPeerPool().offer([aTransaction()])).toEqual({ accepted: 1, rejected: 0, recovered: 1 });
  });

  it.each([
    ["has a sender without balance", () => aTransaction({ privateKey: unfunded.privateKey })],
    ["has a nonce that will never be reached", () => aTransaction({ nonce: 100_000n })],
  ])(
    "counts as rejected when it %s, and a quarter of that when the peer may know a newer state",
    async (_, make) => {
      expect(await aPeerPool().offer([make()])).toEqual({ accepted: 0, rejected: 1, recovered: 1 });
      expect(await aPeerPool().offer([make()], true)).toMatchObject({ rejected: 0.25 });
    },
  );

  it.each([
    ["is for another chain", () => aTransaction({ chainId: 5n })],
    ["has less gas than its intrinsic gas", () => aTransaction({ gasLimit: 20_000n })],
  ])("counts as rejected without a recovery when it %s", async (_, make) => {
    expect(await aPeerPool().offer([make()])).toEqual({ accepted: 0, rejected: 1, recovered: 0 });
  });

  it("is ignored without a recovery when it pays less than our minimum", async () => {
    const cheap = aTransaction({ gasPrice: 1n });
    expect(await aPeerPool().offer([cheap])).toEqual({ accepted: 0, rejected: 0, recovered: 0 });
  });

  it("is ignored when it is mined or known already", async () => {
    const peers = aPeerPool();
    const [mined, known] = [aTransaction({ nonce: 0n }), aTransaction({ nonce: 1n })];
    peers.head.set(mined.sender, { nonce: 1n });
    peers.mine([mined]);
    peers.pool.add(known, "local");
    expect(await peers.offer([mined, known])).toEqual({ accepted: 0, rejected: 0, recovered: 1 });
    // Another one for the same nonce.
    const superseded = aTransaction({ nonce: 0n, value: 5n });
    expect(await peers.offer([superseded])).toMatchObject({ accepted: 0, rejected: 1 });
  });

  it("is ignored when one before it was lost", async () => {
    const beyond = aTransaction({ nonce: 10_000n });
    expect(await aPeerPool().offer([beyond])).toMatchObject({ accepted: 0, rejected: 0 });
  });

  it("counts as rejected when its signature is invalid", async () => {
    expect(await aPeerPool().offer([signedByNobody()])).toMatchObject({ accepted: 0, rejected: 1 });
  });
});
