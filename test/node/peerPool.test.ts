import { describe, expect, it } from "vitest";
import { createPeerPool } from "../../src/node/peerPool.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { recoverAddress } from "../../src/primitives/secp256k1.ts";
import { recoveryItemOf, type SentTransaction, type Transaction } from "../../src/types/transaction.ts";
import { aPool } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { accountFromSeed } from "../builders/testAccounts.ts";

/** What peers offer to a pool whose chain has one rich account, and how many signers had to be found for that. */
function aPeerPool() {
  const { pool, head } = aPool();
  head.set(stranger.address, { balanceWei: 0n });
  let recovered = 0;
  let onHead: (change: {
    readonly added: readonly { readonly transactions: readonly SentTransaction[] }[];
  }) => void;
  onHead = () => undefined;
  const peerPool = createPeerPool(
    {
      pool,
      chain: {
        onHeadChanged(listener) {
          onHead = listener as typeof onHead;
          return () => undefined;
        },
      },
      async recoverSenders(transactions) {
        recovered += transactions.length;
        return transactions.map((transaction) => {
          const { digest, signature } = recoveryItemOf(transaction);
          return recoverAddress(digest, signature);
        });
      },
      logger: silentLogger,
    },
    () => true,
  );
  return {
    pool,
    head,
    mine: (transactions: readonly SentTransaction[]) => onHead({ added: [{ transactions }] }),
    async offer(transactions: readonly Transaction[], isAhead = false) {
      recovered = 0;
      const { accepted, rejected } = await peerPool.offer(transactions, { isAhead });
      return { accepted, rejected, recovered };
    },
  };
}

const stranger = accountFromSeed(77);
const signedByNobody = (): Transaction =>
  aTransaction({ changeSignature: (signature) => ({ ...signature, r: 5n }) } as Parameters<
    typeof aTransaction
  >[0]);

describe("what a peer offers", () => {
  it("is useful when the pool takes it", async () => {
    expect(await aPeerPool().offer([aTransaction()])).toEqual({ accepted: 1, rejected: 0, recovered: 1 });
  });

  it.each([
    ["an account without money", () => aTransaction({ privateKey: stranger.privateKey })],
    ["a nonce that will never be reached", () => aTransaction({ nonce: 100_000n })],
  ])(
    "is useless when it comes from %s, and a quarter of that where the peer may know more",
    async (_, make) => {
      expect(await aPeerPool().offer([make()])).toEqual({ accepted: 0, rejected: 1, recovered: 1 });
      expect(await aPeerPool().offer([make()], true)).toMatchObject({ rejected: 0.25 });
    },
  );

  it.each([
    ["for another chain", () => aTransaction({ chainId: 5n })],
    ["with less gas than it needs", () => aTransaction({ gasLimit: 20_000n })],
  ])("is useless %s, whoever signed it", async (_, make) => {
    expect(await aPeerPool().offer([make()])).toEqual({ accepted: 0, rejected: 1, recovered: 0 });
  });

  it("costs no signature, and is no offence, where it pays less than we ask", async () => {
    const cheap = aTransaction({ gasPrice: 1n });
    expect(await aPeerPool().offer([cheap])).toEqual({ accepted: 0, rejected: 0, recovered: 0 });
  });

  it("is no offence when a block was quicker, or it is known", async () => {
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

  it("is no offence where one before it was lost", async () => {
    const beyond = aTransaction({ nonce: 10_000n });
    expect(await aPeerPool().offer([beyond])).toMatchObject({ accepted: 0, rejected: 0 });
  });

  it("is useless when nobody signed it", async () => {
    expect(await aPeerPool().offer([signedByNobody()])).toMatchObject({ accepted: 0, rejected: 1 });
  });
});
