import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { declareRpcCounts, type RpcCount } from "../../../src/rpc/rpcMetrics.ts";
import { MetricsForwarder } from "../../../src/rpc/threads/callerSide/metricsForwarder.ts";
import { Flushes } from "../../../src/rpc/threads/mainSide/flushes.ts";
import { type FromThread, MESSAGES } from "../../../src/rpc/threads/messages.ts";
import type { Handlers } from "../../../src/workers/channel/channel.ts";
import { aChannel, handlersOf, postedOf } from "../../builders/aChannel.ts";
import { aRegistry, readSample } from "../../observability/aRegistry.ts";
import { itIfThorough } from "../../thorough.ts";

const COUNTS_WAITING = MESSAGES.counts.most.messages;

const answered = (method: string, seconds: number): RpcCount => ({ kind: "answered", method, seconds });

/** A thread that counts, and the main thread's metrics, which take what was sent when the test says so. */
function twoSides() {
  const { thread, main, fromThread, creditOf } = aChannel();
  const sender = new MetricsForwarder(thread);
  const metrics = aRegistry();
  const add = declareRpcCounts(metrics, () => 0);
  const handlers = handlersOf<Handlers<FromThread>>({
    counts(counts) {
      for (const one of counts) add(one);
    },
  });
  return {
    waiting: creditOf("counts"),
    sent: () => fromThread.map(({ content }) => content as readonly RpcCount[]),
    sender,
    receive: () => main.receive(postedOf(fromThread.splice(0)), handlers),
    calls: (methodName: string) => readSample(metrics, "besu_rpc_request_time_count", { methodName }),
    seconds: (methodName: string) => readSample(metrics, "besu_rpc_request_time_sum", { methodName }),
    refused: (reason: string) => readSample(metrics, "rpc_requests_rejected_total", { reason }),
  };
}

describe("counts of a thread", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("are sent one by one, soon", () => {
    const { sender, sent } = twoSides();
    for (const seconds of [1, 2]) sender.count(answered("eth_call", seconds));
    expect(sent()).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(sent()).toEqual([[answered("eth_call", 1), answered("eth_call", 2)]]);
  });

  itIfThorough("are merged, and none is lost, while the main thread is held up", async () => {
    const { sender, sent, waiting, receive, calls, seconds, refused } = twoSides();
    const ROUNDS = 300_000;
    for (let round = 0; round < ROUNDS; round++) {
      sender.count(answered("eth_call", 2));
      sender.count(answered("eth_getLogs", 1 + (round % 2)));
      sender.count({ kind: "rejected", reason: "batch" });
    }
    expect(waiting.messages).toBeLessThanOrEqual(COUNTS_WAITING);
    expect(sent().flat().length).toBeLessThanOrEqual(COUNTS_WAITING);
    receive();
    sender.flush();
    expect(sent().flat().length).toBeLessThan(2100);
    receive();
    expect(waiting.messages).toBe(0);
    vi.useRealTimers();
    expect(await Promise.all([calls("eth_call"), calls("eth_getLogs"), refused("batch")])).toEqual([
      ROUNDS,
      ROUNDS,
      ROUNDS,
    ]);
    expect(await seconds("eth_call")).toBe(2 * ROUNDS);
    expect(await seconds("eth_getLogs")).toBeCloseTo(1.5 * ROUNDS, 3);
  });

  it("come at a flush even while too many wait", () => {
    const { sender, sent, waiting } = twoSides();
    waiting.takeBeyond(COUNTS_WAITING);
    for (let count = 0; count < 10; count++) sender.count(answered("eth_call", 1));
    sender.flush();
    expect(sent()).toEqual([[{ ...answered("eth_call", 1), times: 10 }]]);
  });
});

describe("a flush of counts", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is asked for once at a time; who asks later waits for the next one", async () => {
    const { main, toThread } = aChannel();
    const flushes = new Flushes(main);
    const posted = (): number => toThread.length;
    const done: string[] = [];
    void flushes.flush().then(() => done.push("first"));
    void flushes.flush().then(() => done.push("second"));
    void flushes.flush().then(() => done.push("third"));
    expect(posted()).toBe(1);
    flushes.flushed();
    await vi.advanceTimersByTimeAsync(0);
    expect([posted(), ...done]).toEqual([2, "first"]);
    flushes.flushed();
    await vi.advanceTimersByTimeAsync(0);
    expect([posted(), ...done]).toEqual([2, "first", "second", "third"]);
  });

  it("waits only so long for a thread that is held up, to which nothing more is sent meanwhile", async () => {
    const { main, toThread } = aChannel();
    const flushes = new Flushes(main);
    const posted = (): number => toThread.length;
    let done = 0;
    for (let count = 0; count < 50; count++) {
      void flushes.flush().then(() => done++);
      await vi.advanceTimersByTimeAsync(200);
    }
    expect([posted(), done]).toEqual([1, 50]);
    flushes.flushed();
    void flushes.flush().then(() => done++);
    expect(posted()).toBe(2);
    flushes.flushed();
    await vi.advanceTimersByTimeAsync(0);
    expect(done).toBe(51);
  });
});
