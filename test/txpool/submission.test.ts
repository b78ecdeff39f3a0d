import { describe, expect, it } from "vitest";
import type { RecoverSigners } from "../../src/chain/signerRecovery.ts";
import { ok } from "../../src/primitives/result.ts";
import { AdmissionQueue } from "../../src/txpool/admissionQueue.ts";
import type { PoolEntry } from "../../src/txpool/entry.ts";
import { poolError } from "../../src/txpool/errors.ts";
import type { TxPool } from "../../src/txpool/txPool.ts";
import { recoveryItemOf } from "../../src/types/transactionSignature.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { recoverSignersHere } from "../builders/recoverSignersHere.ts";

/** A queue before a pool that takes everything, and the nonces that were added. */
function aQueue(recoverSigners: RecoverSigners = recoverSignersHere) {
  const added: bigint[] = [];
  const queue = queueBefore((transaction) => {
    added.push(transaction.nonce);
    return ok({ transaction } as PoolEntry);
  }, recoverSigners);
  return { queue, added };
}

function queueBefore(
  add: TxPool["add"],
  recoverSigners: RecoverSigners = recoverSignersHere,
): AdmissionQueue {
  return new AdmissionQueue({ add, screen: () => undefined }, recoverSigners);
}

const transactions = [0n, 1n, 2n, 3n].map((nonce) => aTransaction({ type: 2, nonce }));
const raws = transactions.map(({ raw }) => raw);

describe("transactions that are submitted on the pool's thread", () => {
  it("are added in their order, whichever sender is recovered first", async () => {
    let requests = 0;
    const { queue, added } = aQueue(async (items) => {
      requests++;
      if (requests === 1) await new Promise((resolve) => setImmediate(resolve));
      return recoverSignersHere(items);
    });
    const outcomes = await Promise.all(raws.map((raw) => queue.submit(raw)));
    expect(added).toEqual([0n, 1n, 2n, 3n]);
    expect(outcomes).toEqual(transactions.map(({ hash }) => ok(hash)));
  });

  it("have the sender that is known where this node has signed, in their order among others", async () => {
    const recovered: number[] = [];
    const { queue, added } = aQueue(async (items) => {
      recovered.push(items.length);
      await new Promise((resolve) => setImmediate(resolve));
      return recoverSignersHere(items);
    });
    const [first, second, third] = transactions;
    if (first === undefined || second === undefined || third === undefined) throw new Error("there are four");
    await Promise.all([
      queue.submit(first.raw),
      queue.submit(second.raw, second.sender),
      queue.submit(third.raw),
    ]);
    expect(added).toEqual([0n, 1n, 2n]);
    expect(recovered).toEqual([1, 1]);
  });

  it("without a signer, or that are no transactions, do not keep others out", async () => {
    const { queue, added } = aQueue();
    const unsigned = aTransaction({ changeSignature: (signature) => ({ ...signature, r: 5n }) });
    const given = [transactions[0]?.raw ?? new Uint8Array(), Uint8Array.of(1), unsigned.raw];
    const outcomes = await Promise.all(given.map((raw) => queue.submit(raw)));
    expect(outcomes.map((outcome) => outcome.ok || outcome.error.code)).toEqual([
      true,
      "malformedTransaction",
      "invalidSignature",
    ]);
    expect(added).toEqual([0n]);
  });

  it("fail where the pool throws, and later ones do not", async () => {
    let isBroken = true;
    const queue = queueBefore((transaction) => {
      if (isBroken) throw new Error("the disk is gone");
      return ok({ transaction } as PoolEntry);
    });
    const failing = await Promise.allSettled(raws.map((raw) => queue.submit(raw)));
    expect(failing.map(({ status }) => status)).toEqual(raws.map(() => "rejected"));
    isBroken = false;
    expect(await queue.submit(transactions[0]?.raw ?? new Uint8Array())).toMatchObject({ ok: true });
  });

  it("that cannot be read fail, and those before and after them do not", async () => {
    const { queue, added } = aQueue();
    const [first] = transactions;
    if (first === undefined) throw new Error("there are four");
    function* broken() {
      yield { transaction: first as (typeof transactions)[number], signed: recoveryItemOf(first as never) };
      throw new Error("torn bytes");
    }
    const before = queue.submit(raws[1] ?? first.raw);
    let decided = 0;
    const failed = new Promise<{ count: number; error: unknown }>((resolve, reject) => {
      queue.add(broken(), {
        decided: ({ count }) => {
          decided += count;
        },
        unrecovered: reject,
        failed: (count, error) => resolve({ count, error }),
      });
    });
    const after = queue.submit(raws[2] ?? first.raw);
    const { count, error } = await failed;
    expect(error).toMatchObject({ message: "torn bytes" });
    expect(await Promise.all([before, after])).toMatchObject([{ ok: true }, { ok: true }]);
    // Where the slice of time was over before the second was read, the first is decided for itself.
    expect(decided + count).toBe(1);
    expect(added).toEqual(decided === 1 ? [1n, first.nonce, 2n] : [1n, 2n]);
  });

  it("tell why the pool refused one", async () => {
    const message = "nonce 4 is used, the sender's next is 5";
    const queue = queueBefore(() => poolError("nonceTooLow", "local", message));
    expect(await queue.submit(transactions[0]?.raw ?? new Uint8Array())).toMatchObject({
      ok: false,
      error: { code: "nonceTooLow", message },
    });
  });

  it("fail when their senders cannot be recovered, and later ones do not", async () => {
    let isBroken = true;
    const { queue } = aQueue(async (items) => {
      if (isBroken) throw new Error("no threads");
      return recoverSignersHere(items);
    });
    const failing = await Promise.allSettled(raws.map((raw) => queue.submit(raw)));
    expect(failing.map(({ status }) => status)).toEqual(raws.map(() => "rejected"));
    isBroken = false;
    expect(await queue.submit(transactions[0]?.raw ?? new Uint8Array())).toMatchObject({ ok: true });
  });
});
