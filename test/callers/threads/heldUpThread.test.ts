import { describe, expect, it, onTestFinished } from "vitest";
import { RpcThread } from "../../../src/callers/threads/rpcThread.ts";
import type { OpenMessage, RpcThreadData } from "../../../src/callers/threads/threadData.ts";
import type { ThreadParts } from "../../../src/callers/threads/threadParts.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import type { RpcCount } from "../../../src/rpc/rpcMetrics.ts";
import { createHostMemory } from "../../../src/rpc/server/sharedHosts.ts";
import { createTotalsMemory } from "../../../src/rpc/server/sharedTotals.ts";
import { openInterests } from "../../../src/rpc/threads/interests.ts";
import {
  type FromThread,
  MESSAGES,
  type PostedFromThread,
  type ToThread,
} from "../../../src/rpc/threads/messages.ts";
import type { CoreRequest } from "../../../src/rpc/threads/protocol.ts";
import { Credit, createCreditMemory } from "../../../src/workers/channel/credit.ts";
import { SupervisedThread, type SupervisedThreadUser } from "../../../src/workers/supervisedThread.ts";
import { batchesOf } from "../../builders/aChannel.ts";
import { aCore } from "../../builders/anRpcBackend.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { takeTimeouts } from "../../builders/handTimeouts.ts";

/**
 * A thread that is held up in its first message, as by one long step, until the first number of its memory is 1. Then it answers what
 * it was sent as a thread for callers does, without doing it, and ends on "exit".
 */
const ENTRY = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, workerData } from "node:worker_threads";
    const isFree = new Int32Array(workerData);
    const KINDS = ${JSON.stringify(Object.keys(MESSAGES))};
    const send = (kind) => parentPort.postMessage([kind, undefined, 0, 0]);
    let credits;
    parentPort.on("message", (message) => {
      if (message.kind === "exit") process.exit(7);
      if (message.kind === "open") {
        credits = new Int32Array(message.data.held.credits.memory);
        send("opened");
        Atomics.wait(isFree, 0, 0);
        return;
      }
      for (let at = 0; at < message.length; at += 4) {
        const [kind, , messages, bytes] = message.slice(at, at + 4);
        Atomics.sub(credits, 2 * KINDS.indexOf(kind), messages);
        Atomics.sub(credits, 2 * KINDS.indexOf(kind) + 1, bytes);
        if (kind === "flush") send("flushed");
      }
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
    user: undefined as SupervisedThreadUser<PostedFromThread> | undefined,
    supervised: new SupervisedThread<PostedFromThread>(
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
    const messages = Array.isArray(message) ? batchesOf<ToThread>(message) : [message as OpenMessage];
    for (const one of messages) {
      sent.push(one.kind);
      if (one.kind === "open") opened.push(one.data);
    }
    post(message, transferred);
  };
  const held = {
    http: createHostMemory(1),
    webSocket: createHostMemory(1),
    pages: createHostMemory(1),
    reading: createHostMemory(1),
    totals: createTotalsMemory(1),
    credits: createCreditMemory(MESSAGES, 1),
  };
  const interests = openInterests(1);
  const thread = new RpcThread(loading);
  onTestFinished(() => loading.supervised.close());
  // What the thread is told to open does not matter to it.
  const data = { index: 0, held } as unknown as RpcThreadData;
  const core = aCore({});
  await thread.begin(data, {
    core: { ...core, serving: { ...core.serving, readiness: async () => ["x".repeat(1_000_000)] } },
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
  const receive = <Kind extends keyof FromThread>(
    kind: Kind,
    content: FromThread[Kind],
    messages = 0,
  ): void => loading.user?.receive([kind, content, messages, 0]);
  const creditOf = (kind: keyof typeof MESSAGES) => new Credit(MESSAGES, kind, held.credits, 0);
  return { thread, sent, opened, interests, creditOf, loading, release, receive };
}

const READINESS: CoreRequest = {
  call: "serving.readiness",
  args: [""],
  caller: { client: 1, remoteHost: "" },
};

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
  loading.supervised.post({ kind: "exit" });
  await expect.poll(() => opened.length).toBe(2);
  expect(opened[1]?.servers).toBe(servers);
});

describe("what is sent to a thread for callers that is held up", () => {
  it("does not grow: heads, statuses, access and flushes wait as one, events of the pool within their credit", async () => {
    const { thread, sent, interests, release } = await aHeldUpThread();
    interests.change(0, 3);
    const transaction = aTransaction();
    // The time after which a flush is waited for no longer does not pass, however long the rounds take.
    const timeouts = takeTimeouts();
    for (let round = 0; round < 30_000; round++) {
      thread.notifications?.tell("head", undefined);
      thread.notifications?.tell("syncing", undefined);
      thread.notifications?.tell("access", {});
      thread.events?.onDropped(transaction);
      if (round % 1000 === 0) void thread.flushCounts();
      await nextCycle();
    }
    for (const kind of ["head", "syncing", "access"] as const)
      expect(timesOf(kind, sent)).toBe(MESSAGES[kind].most.messages);
    expect(timesOf("flush", sent)).toBe(1);
    expect(timesOf("poolEvents", sent)).toBeLessThan(17_000);
    const before = sent.length;
    release();
    // The newest of each is sent once the thread goes on, and that events were lost.
    await expect
      .poll(async () => {
        await timeouts.advanceBy(10);
        return sent.slice(before).sort();
      })
      .toEqual(["access", "flush", "head", "poolEvents", "syncing"]);
    await thread.flushCounts();
  });

  it("does not grow by answers: beyond their credit, its requests wait", async () => {
    const { sent, creditOf, receive } = await aHeldUpThread();
    const timeouts = takeTimeouts();
    for (let id = 0; id < 500; id++) receive("requests", [{ id, request: READINESS }]);
    await expect.poll(() => creditOf("answers").bytes).toBeGreaterThan(64_000_000);
    await timeouts.advanceBy(10_000);
    expect(creditOf("answers").bytes).toBeLessThan(70_000_000);
    expect(timesOf("answers", sent)).toBeLessThanOrEqual(70);
  });

  it("is forgotten when it ends, counts of the main thread included", async () => {
    const counted: RpcCount[] = [];
    const { thread, creditOf, loading, receive, release } = await aHeldUpThread({
      count: (one) => counted.push(one),
    });
    const timeouts = takeTimeouts();
    for (let id = 0; id < 100; id++) receive("requests", [{ id, request: READINESS }]);
    await expect.poll(() => creditOf("answers").bytes).toBeGreaterThan(64_000_000);
    creditOf("counts").takeBeyond(3);
    creditOf("logLine").takeBeyond(2, 600);
    receive("counts", [{ kind: "rejected", reason: "busy", times: 2 }], 1);
    expect([counted, creditOf("counts").messages]).toEqual([
      [{ kind: "rejected", reason: "busy", times: 2 }],
      2,
    ]);
    release();
    loading.supervised.post({ kind: "exit" });
    // The thread gives back the credit of its answers before it ends; that of what it sent is forgotten with it.
    const [counts, lines] = [creditOf("counts"), creditOf("logLine")];
    await expect.poll(() => [counts.messages, lines.messages, lines.bytes]).toEqual([0, 0, 0]);
    expect(creditOf("answers").bytes).toBe(0);
    await expect.poll(() => loading.supervised.isReady).toBe(true);
    // Nothing of the one that ended goes to the one that took its place.
    await timeouts.advanceBy(10_000);
    expect(creditOf("answers").bytes).toBe(0);
    await thread.flushCounts();
  });
});
