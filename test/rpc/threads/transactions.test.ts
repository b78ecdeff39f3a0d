import { MessageChannel } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RecoverSigners } from "../../../src/chain/signerRecovery.ts";
import { err, ok } from "../../../src/primitives/result.ts";
import { HostCredit } from "../../../src/rpc/threads/callerSide/hostCredit.ts";
import { TransactionSender } from "../../../src/rpc/threads/callerSide/transactionSender.ts";
import { admitPacked } from "../../../src/rpc/threads/mainSide/admitPacked.ts";
import {
  type FromThread,
  MESSAGES,
  type PostedFromThread,
  type PostedToThread,
  type ToThread,
} from "../../../src/rpc/threads/messages.ts";
import { AdmissionQueue } from "../../../src/txpool/admissionQueue.ts";
import { poolError } from "../../../src/txpool/errors.ts";
import type { Submitted } from "../../../src/txpool/submission.ts";
import type { TxPool } from "../../../src/txpool/txPool.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { Channel, type Handlers } from "../../../src/workers/channel/channel.ts";
import { createCreditMemory } from "../../../src/workers/channel/credit.ts";
import { handlersOf } from "../../builders/aChannel.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { recoverSignersHere } from "../../builders/recoverSignersHere.ts";
import { account } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";

const HOST = "192.0.2.1";

/** A thread that sends to the queue. After `end`, nothing is sent to it. */
function aThread(queue: AdmissionQueue) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  let messages = 0;
  const place = { memory: createCreditMemory(MESSAGES, 1), thread: 0 };
  const atThread = new Channel<FromThread, ToThread>(MESSAGES, place, (posted, transferred) =>
    port1.postMessage(posted, transferred),
  );
  const atMain = new Channel<ToThread, FromThread>(MESSAGES, place, (posted) => port2.postMessage(posted));
  const sender = new TransactionSender(atThread, new HostCredit("transactions"));
  port1.on("message", (posted: PostedToThread) =>
    atThread.receive(
      posted,
      handlersOf<Handlers<ToThread>>({ decided: (decided) => sender.receive(decided) }),
    ),
  );
  port2.on("message", (posted: PostedFromThread) => {
    messages++;
    atMain.receive(
      posted,
      handlersOf<Handlers<FromThread>>({
        transactions: (bytes) => admitPacked(queue, bytes, (decided) => atMain.send("decided", decided)),
      }),
    );
  });
  const end = (): void => atMain.drop();
  return { sender, end, messages: () => messages };
}

/** The main thread with a pool that refuses what `isRefused` names. */
function aQueue(
  isRefused: (transaction: SentTransaction) => boolean = () => false,
  recoverSigners: RecoverSigners = recoverSignersHere,
) {
  const added: SentTransaction[] = [];
  const add = ((transaction) => {
    added.push(transaction);
    return isRefused(transaction) ? poolError("nonceTooLow", "local", "it is too low") : ok(undefined);
  }) as TxPool["add"];
  return { queue: new AdmissionQueue({ add, screen: () => undefined }, recoverSigners), added };
}

function twoSides(...choices: Parameters<typeof aQueue>) {
  const { queue, added } = aQueue(...choices);
  return { ...aThread(queue), added };
}

function submissionOf(sender: TransactionSender): (raw: Uint8Array) => Promise<Submitted> {
  return (raw) => sender.submit(raw, HOST);
}

function codeOf(submitted: Submitted): string | undefined {
  return submitted.ok ? undefined : submitted.error.code;
}

describe("transactions of a thread's callers", () => {
  it("reach the pool in their order, with their signers, in few messages; each caller gets the pool's reason", async () => {
    const { sender, added, messages } = twoSides(({ nonce }) => nonce % 3n === 0n);
    const submit = submissionOf(sender);
    const sent = Array.from({ length: 20 }, (_, nonce) =>
      aTransaction({
        nonce: BigInt(nonce),
        privateKey: account(nonce % 5).privateKey,
        data: new Uint8Array(nonce),
      }),
    );
    const answers = await Promise.all(sent.map(({ raw }) => submit(raw)));
    expect(added).toEqual(sent);
    expect(messages()).toBe(1);
    expect(answers.map((answer) => (answer.ok ? answer.value : answer.error.code))).toEqual(
      sent.map(({ nonce, hash }) => (nonce % 3n === 0n ? "nonceTooLow" : hash)),
    );
    const later = aTransaction({ nonce: 100n });
    expect(await submit(later.raw)).toEqual(ok(later.hash));
    expect(added.at(-1)).toEqual(later);
  });

  it("are refused when nothing can be read, or nobody signed", async () => {
    const { sender, added } = twoSides();
    const submit = submissionOf(sender);
    const unsigned = aTransaction({ changeSignature: (signature) => ({ ...signature, r: 5n }) });
    const answers = [await submit(Uint8Array.of(0xc0)), await submit(unsigned.raw)];
    expect(answers.map((answer) => (answer.ok ? "added" : answer.error.code))).toEqual([
      "malformedTransaction",
      "invalidSignature",
    ]);
    expect(added).toEqual([]);
  });

  it("of one host are at most half of those on which the pool has not decided, in number and in bytes", async () => {
    const unread = () => new TransactionSender({ gather: () => undefined }, new HostCredit("transactions"));
    const tooMany = err({ code: "tooManyWaiting", fault: "caller", message: "the pool refused it" });
    const none = submissionOf(unread());
    const { raw } = aTransaction();
    for (let count = 0; count < MESSAGES.transactions.most.messages / 2; count++) void none(raw);
    expect(await none(raw)).toEqual(tooMany);
    const large = submissionOf(unread());
    const { raw: megabyte } = aTransaction({ data: new Uint8Array(1024 * 1024) });
    for (let count = 0; count < 32; count++) void large(megabyte);
    expect(await large(megabyte)).toEqual(tooMany);
  });

  it("count with their lists as the objects that these become on the main thread", async () => {
    const items = 10_000;
    const accessList = Array(items).fill({ address: account(1).address, storageKeys: [] });
    const { raw } = aTransaction({ type: 1, accessList });
    const submit = submissionOf(
      new TransactionSender({ gather: () => undefined }, new HostCredit("transactions")),
    );
    const most = MESSAGES.transactions.most.bytes / 2 / (raw.length + 150 * items);
    for (let count = 1; count <= most; count++) void submit(raw);
    expect(codeOf(await submit(raw))).toBe("tooManyWaiting");
  });

  it("of a thread that has ended are added all the same", async () => {
    const { sender, end, added } = twoSides();
    void sender.submit(aTransaction().raw, HOST);
    end();
    await expect.poll(() => added.length).toBe(1);
  });

  itIfThorough("of several threads reach the pool in the order in which they came", async () => {
    const { queue, added } = aQueue();
    const [one, other] = [aThread(queue), aThread(queue)];
    // These take several slices.
    const many = Array.from({ length: 3000 }, (_, nonce) => aTransaction({ nonce: BigInt(nonce) }));
    const last = aTransaction({ nonce: 3000n });
    const sent = many.map(({ raw }) => one.sender.submit(raw, HOST));
    await expect.poll(() => added.length).toBeGreaterThan(0);
    sent.push(other.sender.submit(last.raw, HOST));
    await Promise.all(sent);
    expect(added.map(({ nonce }) => nonce)).toEqual([...many, last].map(({ nonce }) => nonce));
  });

  it("are added by the batch, and one that nobody signed does not shift the senders of those after it", async () => {
    const sizes: number[] = [];
    const { sender, added } = twoSides(undefined, (items) => {
      sizes.push(items.length);
      return recoverSignersHere(items);
    });
    const unsigned = aTransaction({ changeSignature: (signature) => ({ ...signature, r: 5n }) });
    const sent = Array.from({ length: 300 }, (_, nonce) =>
      aTransaction({ nonce: BigInt(nonce), privateKey: account(nonce % 5).privateKey }),
    );
    const raws = sent.map(({ raw }) => raw);
    raws.splice(100, 0, unsigned.raw);
    raws.splice(50, 0, Uint8Array.of(0xc0));
    const reasons = (await Promise.all(raws.map(submissionOf(sender)))).map(codeOf);
    expect(
      reasons.map((reason, index) => [index, reason]).filter(([, reason]) => reason !== undefined),
    ).toEqual([
      [50, "malformedTransaction"],
      [101, "invalidSignature"],
    ]);
    expect(added).toEqual(sent);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(128);
  });

  it("whose senders cannot be recovered because the node stops are not answered, and fail nothing", async () => {
    let asked = 0;
    const { sender, added } = twoSides(undefined, () => {
      asked++;
      return asked === 1 ? Promise.reject(new Error("the recovery pool is closed")) : Promise.resolve([]);
    });
    void sender.submit(aTransaction().raw, HOST);
    await expect.poll(() => asked).toBe(1);
    expect(added).toEqual([]);
  });
});
