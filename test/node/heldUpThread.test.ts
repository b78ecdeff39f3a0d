import { describe, expect, it, onTestFinished } from "vitest";
import { RpcThread } from "../../src/node/rpcThreads/rpcThread.ts";
import type { RpcThreadData } from "../../src/node/rpcThreads/threadData.ts";
import type { ThreadParts } from "../../src/node/rpcThreads/threadParts.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import type { RpcCount } from "../../src/rpc/rpcMetrics.ts";
import { createHostMemory } from "../../src/rpc/server/sharedHosts.ts";
import { createTotalsMemory, shareTotals } from "../../src/rpc/server/sharedTotals.ts";
import { openInterests } from "../../src/rpc/threads/callerSide/eventFeed.ts";
import { NOTICE_CREDIT } from "../../src/rpc/threads/mainSide/notifications.ts";
import type { FromThread, ThreadRequest } from "../../src/rpc/threads/protocol.ts";
import { SupervisedThread, type SupervisedThreadUser } from "../../src/workers/supervisedThread.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { takeTimeouts } from "../builders/handTimeouts.ts";

/**
 * A thread that is held up in its first message, as by one long step, until the first number of its memory is 1. Then it answers what
 * it was sent as a thread for callers does, without doing it, and ends on "close".
 */
const ENTRY = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, workerData } from "node:worker_threads";
    const isFree = new Int32Array(workerData);
    parentPort.on("message", (message) => {
      const { kind } = message;
      if (kind === "open") {
        parentPort.postMessage({ kind: "opened", failure: undefined });
        Atomics.wait(isFree, 0, 0);
      }
      if (["head", "syncing", "access"].includes(kind)) parentPort.postMessage({ kind: "worked", on: kind });
      if (kind === "poolEvents") parentPort.postMessage({ ...message, kind: "credit" });
      if (kind === "flush") parentPort.postMessage({ kind: "flushed" });
      if (kind === "close") process.exit(7);
    });
    parentPort.postMessage("ready");
  `)}`,
);

/** A held-up thread, with what it was sent. */
async function aHeldUpThread(parts: Partial<ThreadParts> = {}) {
  const memory = new Int32Array(new SharedArrayBuffer(4));
  const sent: string[] = [];
  /** What the thread was told to open with, each time it started. */
  const opened: RpcThreadData[] = [];
  const loading = {
    user: undefined as SupervisedThreadUser<FromThread> | undefined,
    supervised: new SupervisedThread<FromThread>(
      { entry: ENTRY, workerData: memory.buffer },
      {
        ready: () => loading.user?.ready(),
        receive: (message) => loading.user?.receive(message),
        died: (error) => loading.user?.died(error),
      },
    ),
  };
  const post = loading.supervised.post.bind(loading.supervised);
  loading.supervised.post = (message, transferred) => {
    const { kind, data } = message as { readonly kind: string; readonly data?: RpcThreadData };
    sent.push(kind);
    if (data !== undefined) opened.push(data);
    post(message, transferred);
  };
  const held = {
    http: createHostMemory(1),
    webSocket: createHostMemory(1),
    pages: createHostMemory(1),
    reading: createHostMemory(1),
    totals: createTotalsMemory(1),
  };
  const interests = openInterests(1);
  const thread = new RpcThread(loading);
  onTestFinished(() => loading.supervised.close());
  // What the thread is told to open does not matter to it.
  const data = { index: 0, held } as unknown as RpcThreadData;
  const none = () => Promise.reject(new Error("nothing is asked"));
  await thread.begin(data, {
    dispatcher: { answerCall: none },
    simulator: { run: none },
    stateQueries: { query: none },
    tracer: { run: none },
    findLogs: none,
    readiness: () => ["x".repeat(1_000_000)],
    logins: { http: undefined, webSocket: undefined },
    listeners: {},
    interests,
    writeLine: () => undefined,
    count: undefined,
    logger: silentLogger,
    ...parts,
  } as unknown as ThreadParts);
  const release = (): void => {
    Atomics.store(memory, 0, 1);
    Atomics.notify(memory, 0);
  };
  /** A message as if the thread had sent it. */
  const receive = (message: FromThread): void => loading.user?.receive(message);
  return { thread, sent, opened, interests, totals: shareTotals(held.totals, 0), loading, release, receive };
}

function timesOf(kind: string, sent: readonly string[]): number {
  return sent.filter((one) => one === kind).length;
}

const nextCycle = () => new Promise((resolve) => setImmediate(resolve));

it("a thread for callers that is started again knows what callers may do now", async () => {
  const { thread, opened, loading, release } = await aHeldUpThread();
  release();
  const servers = { http: undefined, webSocket: undefined, explorer: undefined };
  thread.changeAccess(servers);
  // It ends, and is started again.
  loading.supervised.post({ kind: "close" });
  await expect.poll(() => opened.length).toBe(2);
  expect(opened[1]?.servers).toBe(servers);
});

describe("what is sent to a thread for callers that is held up", () => {
  it("does not grow: heads, statuses, access and flushes wait as one, events of the pool within their credit", async () => {
    const { thread, sent, interests, release } = await aHeldUpThread();
    interests.change(0, 3);
    const transaction = aTransaction();
    // The time after which a flush is waited for no longer does not pass, however long the rounds take.
    takeTimeouts();
    for (let round = 0; round < 30_000; round++) {
      thread.tell({ kind: "head" });
      thread.tell({ kind: "syncing", status: undefined });
      thread.tell({ kind: "access", access: {} });
      thread.events?.dropped(transaction);
      if (round % 1000 === 0) void thread.flushCounts();
      await nextCycle();
    }
    for (const kind of ["head", "syncing", "access"]) expect(timesOf(kind, sent)).toBe(NOTICE_CREDIT);
    expect(timesOf("flush", sent)).toBe(1);
    expect(timesOf("poolEvents", sent)).toBeLessThan(17_000);
    const before = sent.length;
    release();
    // The newest of each is sent once the thread goes on, and that events were lost.
    await expect
      .poll(() => sent.slice(before).sort())
      .toEqual(["access", "flush", "head", "poolEvents", "syncing"]);
    await thread.flushCounts();
  });

  it("does not grow by answers: beyond their credit, its requests wait", async () => {
    const { sent, totals, receive } = await aHeldUpThread();
    const timeouts = takeTimeouts();
    const request: ThreadRequest = { kind: "readiness", query: "" };
    for (let id = 0; id < 500; id++) receive({ kind: "requests", requests: [{ id, request }] });
    await expect.poll(() => totals.answerBytes.own).toBeGreaterThan(64_000_000);
    await timeouts.advanceBy(10_000);
    expect(totals.answerBytes.own).toBeLessThan(70_000_000);
    expect(timesOf("answers", sent)).toBeLessThanOrEqual(70);
  });

  it("is forgotten when it ends, counts of the main thread included", async () => {
    const counted: RpcCount[] = [];
    const { thread, totals, loading, receive, release } = await aHeldUpThread({
      count: (one) => counted.push(one),
    });
    const timeouts = takeTimeouts();
    const request: ThreadRequest = { kind: "readiness", query: "" };
    for (let id = 0; id < 100; id++) receive({ kind: "requests", requests: [{ id, request }] });
    await expect.poll(() => totals.answerBytes.own).toBeGreaterThan(64_000_000);
    totals.counts.add(3);
    totals.logLines.add(2);
    totals.logBytes.add(600);
    receive({ kind: "counted", counts: [{ kind: "rejected", reason: "busy", times: 2 }] });
    expect([counted, totals.counts.own]).toEqual([[{ kind: "rejected", reason: "busy", times: 2 }], 2]);
    release();
    loading.supervised.post({ kind: "close" });
    await expect.poll(() => totals.answerBytes.own).toBe(0);
    expect([totals.counts.own, totals.logLines.own, totals.logBytes.own]).toEqual([0, 0, 0]);
    await expect.poll(() => loading.supervised.isReady).toBe(true);
    // Nothing of the one that ended goes to the one that took its place.
    await timeouts.advanceBy(10_000);
    expect(totals.answerBytes.own).toBe(0);
    await thread.flushCounts();
  });
});
