import { expect, it } from "vitest";
import { equalBytes } from "../../src/primitives/hex.ts";
import { withKnownSenders } from "../../src/txpool/knownSenders.ts";
import type { Transaction } from "../../src/types/transaction.ts";
import { aTransaction } from "../builders/aTransaction.ts";

it("recovers only unknown senders, and keeps the order", async () => {
  const sent = [1n, 2n, 3n, 4n].map((nonce) => aTransaction({ nonce }));
  const [first, second, third, fourth] = sent;
  const asked: Transaction[] = [];
  const recoverSenders = withKnownSenders(
    async (transactions) => {
      asked.push(...transactions);
      return transactions.map((transaction) => (transaction === third ? undefined : fourth?.sender));
    },
    (hash) => [first, second].find((known) => known && equalBytes(known.hash, hash))?.sender,
  );
  expect(await recoverSenders(sent)).toEqual([first?.sender, second?.sender, undefined, fourth?.sender]);
  expect(asked).toEqual([third, fourth]);
});
