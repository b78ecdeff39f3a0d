import { describe, expect, it } from "vitest";
import type { Address } from "../../src/primitives/address.ts";
import { ok } from "../../src/primitives/result.ts";
import { AdmissionQueue } from "../../src/txpool/admissionQueue.ts";
import type { PoolEntry } from "../../src/txpool/entry.ts";
import { poolError } from "../../src/txpool/errors.ts";
import { createSubmission } from "../../src/txpool/submission.ts";
import type { SentTransaction, Transaction } from "../../src/types/transaction.ts";
import { recoverSender } from "../../src/types/transactionSignature.ts";
import { aTransaction } from "../builders/aTransaction.ts";

/** A submission to a pool that takes everything, with what was recovered together and the nonces that were added. */
function aSubmission(recover: (transaction: Transaction) => Address | undefined = recoverSender) {
  const requests: number[] = [];
  const added: bigint[] = [];
  const pool = {
    screen: () => undefined,
    add(transaction: SentTransaction) {
      added.push(transaction.nonce);
      return ok({ transaction } as PoolEntry);
    },
  };
  const queue = new AdmissionQueue(pool, async (transactions) => {
    requests.push(transactions.length);
    return transactions.map(recover);
  });
  return { submit: createSubmission(queue), requests, added };
}

const transactions = [0n, 1n, 2n, 3n].map((nonce) => aTransaction({ type: 2, nonce }));

describe("submissions", () => {
  it("that come together are recovered together and added in their order", async () => {
    const { submit, requests, added } = aSubmission();
    const [first, ...others] = transactions;
    const outcomes = await Promise.all(others.map(({ raw }) => submit(raw)));
    outcomes.push(await submit(first?.raw ?? new Uint8Array()));
    expect(requests).toEqual([3, 1]);
    expect(added).toEqual([1n, 2n, 3n, 0n]);
    expect(outcomes).toEqual([...others, first].map((transaction) => ok(transaction?.hash)));
  });

  it("without a signer, or that are no transactions, do not keep others out", async () => {
    const { submit, added } = aSubmission((transaction) =>
      transaction.nonce === 1n ? undefined : recoverSender(transaction),
    );
    const [first, second] = transactions.map(({ raw }) => raw);
    const outcomes = await Promise.all(
      [first, Uint8Array.of(1), second].map((raw) => submit(raw ?? new Uint8Array())),
    );
    expect(outcomes.map((outcome) => outcome.ok || outcome.error.code)).toEqual([
      true,
      "malformedTransaction",
      "invalidSignature",
    ]);
    expect(added).toEqual([0n]);
  });

  it("fail together where the pool throws, and later ones do not", async () => {
    let isBroken = true;
    const pool = {
      screen: () => undefined,
      add(transaction: SentTransaction) {
        if (isBroken) throw new Error("the disk is gone");
        return ok({ transaction } as PoolEntry);
      },
    };
    const submit = createSubmission(
      new AdmissionQueue(pool, async (several) => several.map((each) => recoverSender(each))),
    );
    const failing = transactions.map(({ raw }) => submit(raw));
    expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(
      new Array(failing.length).fill("rejected"),
    );
    isBroken = false;
    expect(await submit(transactions[0]?.raw ?? new Uint8Array())).toMatchObject({ ok: true });
  });

  it("tell why the pool refused one", async () => {
    const pool = {
      screen: () => undefined,
      add: () => poolError("nonceTooLow", "local", "nonce 4 is used, the sender's next is 5"),
    };
    const submit = createSubmission(
      new AdmissionQueue(pool, async (several) => several.map((each) => recoverSender(each))),
    );
    expect(await submit(transactions[0]?.raw ?? new Uint8Array())).toMatchObject({
      ok: false,
      error: { code: "nonceTooLow", message: "nonce 4 is used, the sender's next is 5" },
    });
  });

  it("all fail when their senders cannot be recovered, and later ones do not", async () => {
    let isBroken = true;
    const { submit } = aSubmission((transaction) => {
      if (isBroken) throw new Error("no threads");
      return recoverSender(transaction);
    });
    const failing = transactions.map(({ raw }) => submit(raw));
    expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(
      new Array(failing.length).fill("rejected"),
    );
    isBroken = false;
    expect(await submit(transactions[0]?.raw ?? new Uint8Array())).toMatchObject({ ok: true });
  });
});
