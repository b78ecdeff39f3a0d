import { expect, it } from "vitest";
import { equalBytes } from "../../src/primitives/hex.ts";
import { SenderRecovery } from "../../src/txpool/senderRecovery.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { recoverSignersHere } from "../builders/recoverSignersHere.ts";

it("recovers only unknown senders, and keeps the order", async () => {
  const [first, second, fourth] = [1n, 2n, 4n].map((nonce) => aTransaction({ nonce }));
  const unsigned = aTransaction({ nonce: 3n, changeSignature: (signature) => ({ ...signature, r: 5n }) });
  const asked: number[] = [];
  const senders = new SenderRecovery((items) => {
    asked.push(items.length);
    return recoverSignersHere(items);
  });
  senders.know({
    get(hash) {
      const transaction = [first, second].find((known) => known && equalBytes(known.hash, hash));
      return transaction && { transaction };
    },
  });
  const sent = [first, second, unsigned, fourth].flatMap((transaction) => transaction ?? []);
  expect(await senders.recover(sent)).toEqual([first?.sender, second?.sender, undefined, fourth?.sender]);
  expect(asked).toEqual([2]);
});
