import { expect, it, onTestFinished } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import { asAddress } from "../../../src/primitives/address.ts";
import type { Connection } from "../../../src/rpc/method.ts";
import { LARGE_MESSAGE, LARGE_MESSAGES_WAITING } from "../../../src/rpc/server/limits.ts";
import { MessageReader } from "../../../src/rpc/server/messageReader.ts";
import { allOfHosts, createHostMemory, shareHosts } from "../../../src/rpc/server/sharedHosts.ts";
import {
  createTotalsMemory,
  forgetTotals,
  holdsTooMuch,
  type SharedTotals,
  shareTotals,
} from "../../../src/rpc/server/sharedTotals.ts";
import { UnreadLimits } from "../../../src/rpc/server/unreadLimits.ts";
import { SubscriptionTable } from "../../../src/rpc/subscriptions/subscriptionTable.ts";
import { HostCredit } from "../../../src/rpc/threads/callerSide/hostCredit.ts";
import { TransactionSender } from "../../../src/rpc/threads/callerSide/transactionSender.ts";
import { estimateSize } from "../../../src/rpc/threads/estimateSize.ts";
import { MESSAGES } from "../../../src/rpc/threads/messages.ts";
import type { CoreOutcome, CoreRequest } from "../../../src/rpc/threads/protocol.ts";
import { RequestSender } from "../../../src/workers/channel/requestSender.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { createHandClock } from "../../builders/handClock.ts";

const { messages: REQUEST_LIMIT, bytes: REQUEST_BYTES } = MESSAGES.requests.most;
const WAITING_LIMIT = MESSAGES.transactions.most.messages;
const NOWHERE = { gather: () => undefined, send: () => undefined };

/** The totals of two threads. */
function twoThreads(): { readonly totals: [SharedTotals, SharedTotals]; readonly end: () => void } {
  const memory = createTotalsMemory(2);
  return {
    totals: [shareTotals(memory, 0), shareTotals(memory, 1)],
    end: () => forgetTotals(memory, 0),
  };
}

it("what a thread held that ended is forgotten", () => {
  const { totals, end } = twoThreads();
  const [first, second] = [totals[0].httpAnswers, totals[1].httpAnswers];
  first.add(60);
  second.add(40);
  expect([first.own, second.own, first.all, second.all]).toEqual([60, 40, 100, 100]);
  expect(totals[0].notifications.all).toBe(0);
  end();
  expect([first.own, second.all]).toEqual([0, 40]);
});

it("a thread gives up what it has beyond its part of a limit that all exceed, and no thread more", () => {
  const { totals } = twoThreads();
  const [first, second] = [totals[0].httpAnswers, totals[1].httpAnswers];
  first.set(90);
  expect(holdsTooMuch(first, 100)).toBe(false);
  second.set(30);
  expect(holdsTooMuch(first, 100)).toBe(true);
  expect(holdsTooMuch(second, 100)).toBe(false);
});

it("a thread gives up what it has beyond what one may have, whatever the others have", () => {
  const { httpAnswers } = shareTotals(createTotalsMemory(2), 0, { httpAnswers: 30 });
  httpAnswers.set(30);
  expect(holdsTooMuch(httpAnswers, 100)).toBe(false);
  httpAnswers.set(31);
  expect(holdsTooMuch(httpAnswers, 100)).toBe(true);
});

/** Requests of two threads to the main thread, and what all of them have there. */
function twoMainThreads() {
  const memory = { requests: createHostMemory(2), requestBytes: createHostMemory(2) };
  const senderOf = (index: number) => {
    const credit = new HostCredit("requests", {
      messages: shareHosts(memory.requests, index),
      bytes: shareHosts(memory.requestBytes, index),
    });
    return new RequestSender<CoreRequest, CoreOutcome>(NOWHERE, credit, estimateSize);
  };
  const [one, other] = [senderOf(0), senderOf(1)];
  onTestFinished(() => {
    one.close();
    other.close();
  });
  return {
    one: askerOf(one),
    other: askerOf(other),
    answer: (id: number) => one.receive([{ id, answer: ANSWER }]),
    count: () => allOfHosts(memory.requests),
    bytes: () => allOfHosts(memory.requestBytes),
  };
}

const ANSWER: CoreOutcome = { call: "filters.remove", result: true };

/** Asks for the removal of a filter on behalf of a remote host. */
function askerOf(sender: RequestSender<CoreRequest, CoreOutcome>) {
  return (remoteHost: string, id = "") => {
    const caller = { client: 1, remoteHost };
    return sender.ask({ call: "filters.remove", args: [id], caller }, undefined, remoteHost);
  };
}

it("requests of all threads that wait for the main thread are bounded together, and a host leaves others room", async () => {
  const { one, other, answer, count } = twoMainThreads();
  const half = REQUEST_LIMIT / 2;
  for (let index = 0; index < half - 1; index++) void one("192.0.2.1");
  void other("192.0.2.1");
  expect(await other("192.0.2.1")).toBe("busy");
  expect(await one("192.0.2.1")).toBe("busy");
  expect(count()).toBe(half);
  void other("192.0.2.2");
  void one("");
  expect(count()).toBe(half + 2);
  answer(1);
  expect(count()).toBe(half + 1);
});

it("requests of all threads that wait for the main thread are bounded in bytes, too", async () => {
  const { one, other, answer, bytes } = twoMainThreads();
  const large = "0".repeat(4_000_000);
  const asked = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : other)("192.0.2.1", large));
  expect(await asked.at(-1)).toBe("busy");
  expect(bytes()).toBeLessThanOrEqual(REQUEST_BYTES / 2);
  expect(bytes()).toBeGreaterThan(REQUEST_BYTES / 2 - 5_000_000);
  answer(1);
  expect(await asked[0]).toEqual(ANSWER);
  const held = bytes();
  void other("192.0.2.2", large);
  expect(bytes()).toBeGreaterThan(held + 3_999_999);
});

it("transactions of all threads that wait for the pool are bounded together, and a host leaves others room", async () => {
  const memory = { transactions: createHostMemory(2), transactionBytes: createHostMemory(2) };
  const [one, other] = [0, 1].map(
    (index) =>
      new TransactionSender(
        NOWHERE,
        new HostCredit("transactions", {
          messages: shareHosts(memory.transactions, index),
          bytes: shareHosts(memory.transactionBytes, index),
        }),
      ),
  );
  const [greedy, modest] = ["192.0.2.1", "192.0.2.2"];
  const tooMany = { error: { code: "tooManyWaiting" } };
  const half = WAITING_LIMIT / 2;
  const { raw } = aTransaction();
  for (let count = 0; count < half; count++) void one?.submit(raw, greedy);
  expect(await other?.submit(raw, greedy)).toMatchObject(tooMany);
  void other?.submit(raw, modest);
  expect(allOfHosts(memory.transactions)).toBe(half + 1);
  one?.receive({ count: half, refused: [] });
  other?.receive({ count: 1, refused: [] });
  expect([memory.transactions, memory.transactionBytes].map(allOfHosts)).toEqual([0, 0]);
  const { raw: large } = aTransaction({ data: new Uint8Array(15 * 1024 * 1024) });
  for (const sender of [one, other]) void sender?.submit(large, greedy);
  expect(await one?.submit(large, greedy)).toMatchObject(tooMany);
  void one?.submit(large, modest);
  expect(allOfHosts(memory.transactions)).toBe(3);
});

it("criteria of subscriptions on all threads are bounded together, and a host leaves others room", () => {
  const memory = createHostMemory(2);
  const tables = [0, 1].map(
    (index) => new SubscriptionTable(() => undefined, { criteria: shareHosts(memory, index) }),
  );
  const connection = { onClose: () => undefined, subscribed: () => undefined } as unknown as Connection;
  const addresses = Array.from({ length: 10_000 }, () => asAddress(new Uint8Array(20)));
  const filter = { addresses, topics: [] };
  const logs = { kind: "logs", filter } as unknown as Parameters<(typeof tables)[0]["add"]>[1];
  const add = (index: number, host: string) => {
    const table = tables[index % 2];
    const place = table?.reserve(connection, host, logs);
    return place && table?.add(place, logs);
  };
  const added = Array.from({ length: 25 }, (_, index) => add(index, "192.0.2.1"));
  expect(added.filter((id) => id !== undefined)).toHaveLength(10);
  expect([add(0, "192.0.2.2"), add(1, "192.0.2.2")]).not.toContain(undefined);
  const first = tables[0]?.find(added[0] ?? "");
  if (first !== undefined) tables[0]?.remove(first);
  expect(add(0, "192.0.2.3")).toBeDefined();
  expect(add(1, "192.0.2.1")).toBeUndefined();
});

it("large messages that wait to be read are bounded together, and leave other hosts room on every thread", () => {
  const memory = createHostMemory(2);
  const readers = [0, 1].map((index) => {
    let readings = 0;
    const hand = createHandClock(0);
    // The first reading takes a second, so that all others wait.
    const clock = { nowMs: () => hand.nowMs() + Math.min(readings++, 3) * 1000, at: hand.at };
    const reader = new MessageReader(clock, undefined, shareHosts(memory, index));
    void reader.read(" ".repeat(LARGE_MESSAGE), from("greedy"), () => undefined);
    return reader;
  });
  function from(remoteHost: string) {
    return { remoteHost, isAbandoned: () => false };
  }
  const text = " ".repeat(4 * 1024 * 1024);
  const results = Array.from({ length: 32 }, (_, index) =>
    readers[index % 2]?.read(text, from("greedy"), () => undefined),
  );
  const admitted = results.filter((result) => result !== "busy").length;
  expect(admitted * text.length).toBeLessThanOrEqual(LARGE_MESSAGES_WAITING / 2);
  expect(admitted).toBeGreaterThanOrEqual(7);
  for (const reader of readers) {
    expect(reader.read(text, from("greedy"), () => undefined)).toBe("busy");
    expect(reader.read(text, from("modest"), () => undefined)).toBeInstanceOf(Promise);
    reader.close();
  }
});

it("unread answers and notifications of all threads are bounded together: the slowest are cut where most are unread", () => {
  const { totals } = twoThreads();
  const hand = createHandClock(0);
  const unread = (bytes: number) => {
    const connection = {
      protocol: "WebSocket" as const,
      unreadAnswerBytes: bytes,
      backlogBytes: 0,
      isCut: false,
      onClose: () => undefined,
      cut() {
        connection.isCut = true;
        connection.unreadAnswerBytes = 0;
      },
    };
    return connection;
  };
  const threads = totals.map((each, index) => {
    const connections = index === 0 ? [unread(50), unread(30)] : [unread(40)];
    const limits = new UnreadLimits({ clock: hand, logger: silentLogger, totals: each }, 100);
    for (const connection of connections) limits.add(connection);
    return { connections, limits };
  });
  const [first, second] = threads;
  first?.limits.onAnswer(80);
  second?.limits.onAnswer(40);
  // The other thread has more than its part, and gives it up although it writes nothing more.
  expect(threads.flatMap(({ connections }) => connections.map(({ isCut }) => isCut))).toEqual([
    false,
    false,
    false,
  ]);
  hand.advanceBy(100);
  expect(threads.flatMap(({ connections }) => connections.map(({ isCut }) => isCut))).toEqual([
    true,
    false,
    false,
  ]);
  expect(totals[0].messageAnswers.all).toBe(70);
  for (const { limits } of threads) limits.stop();
});
