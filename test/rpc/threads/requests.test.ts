import { MessageChannel } from "node:worker_threads";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { SimulationJob } from "../../../src/execution/simulation/callRequest.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { ZERO_HASH } from "../../../src/primitives/hash.ts";
import { ERRORS, invalidParams, RpcError } from "../../../src/rpc/errors/errors.ts";
import { JsonPieces, RawJson } from "../../../src/rpc/method.ts";
import { createLastingWork } from "../../../src/rpc/threads/callerSide/lastingWork.ts";
import { createMainThread, type MainThread } from "../../../src/rpc/threads/callerSide/mainThread.ts";
import { RequestHost, type RequestHostParts } from "../../../src/rpc/threads/mainSide/requestHost.ts";
import {
  type FromThread,
  MESSAGES,
  type PostedFromThread,
  type PostedToThread,
  type ToThread,
} from "../../../src/rpc/threads/messages.ts";
import type { RemoteAnswer } from "../../../src/rpc/threads/protocol.ts";
import { fromRemote } from "../../../src/rpc/threads/remoteAnswer.ts";
import { Channel, type Handlers } from "../../../src/workers/channel/channel.ts";
import { Credit, createCreditMemory } from "../../../src/workers/channel/credit.ts";
import { handlersOf } from "../../builders/aChannel.ts";
import { settling, takeTimeouts } from "../../builders/handTimeouts.ts";
import { aToyDispatcher } from "../toyMethods.ts";

const CALLER = { client: 1, remoteHost: "10.0.0.1", isForeignPage: false };
const ANSWER_CREDIT_BYTES = MESSAGES.answers.most.bytes;
const PRESENT = { isAbandoned: () => false };

/** A thread and the main thread, which exchange real messages. */
function twoSides(parts: Partial<RequestHostParts> = {}) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => {
    main.close();
    port1.close();
  });
  const place = { memory: createCreditMemory(MESSAGES, 1), thread: 0 };
  const atThread = new Channel<FromThread, ToThread>(MESSAGES, place, (...sent) =>
    port1.postMessage(...sent),
  );
  const atMain = new Channel<ToThread, FromThread>(MESSAGES, place, (...sent) => port2.postMessage(...sent));
  const main: MainThread = createMainThread(atThread);
  const answerCredit = new Credit(MESSAGES, "answers", place.memory, 0);
  const threadHandlers = handlersOf<Handlers<ToThread>>({ answers: (answers) => main.receive(answers) });
  /** Messages of answers that the thread has not taken, because it is held up. */
  const untaken: PostedToThread[] = [];
  let isHeldUp = false;
  port1.on("message", (posted: PostedToThread) => {
    if (isHeldUp) untaken.push(posted);
    else atThread.receive(posted, threadHandlers);
  });
  const toy = aToyDispatcher();
  let messages = 0;
  const host = new RequestHost(atMain, {
    dispatcher: toy.dispatcher,
    simulator: { run: () => Promise.reject(new Error("nothing is simulated")) },
    stateQueries: { query: () => Promise.reject(new Error("no state is queried")) },
    tracer: { run: () => Promise.reject(new Error("nothing is traced")) },
    findLogs: () => Promise.reject(new Error("no logs are found")),
    descriptor: () => undefined,
    readiness: () => [],
    logins: { http: undefined, webSocket: undefined },
    logger: silentLogger,
    ...parts,
  });
  const mainHandlers = handlersOf<Handlers<FromThread>>({
    requests: (requests) => host.receive(requests),
    abandoned: (ids) => host.abandon(ids),
  });
  port2.on("message", (posted: PostedFromThread) => {
    messages++;
    atMain.receive(posted, mainHandlers);
  });
  const call = async (method: string, params: readonly unknown[] = [], requester = PRESENT) => {
    const answer = await main.ask({ kind: "call", method, params, caller: CALLER }, requester);
    return answer === "busy" ? answer : fromRemote(answer as RemoteAnswer);
  };
  const holdUp = (): void => {
    isHeldUp = true;
  };
  const goOn = (): void => {
    isHeldUp = false;
    for (const posted of untaken.splice(0)) atThread.receive(posted, threadHandlers);
  };
  return { main, atMain, call, ...toy, answerCredit, holdUp, goOn, messages: () => messages };
}

describe("calls that a thread hands to the main thread", () => {
  it("are answered as there: values, errors, text and pieces; the text of a batch in one message", async () => {
    const { call, messages } = twoSides();
    const answers = await Promise.all([
      call("eth_chainId"),
      call("eth_getBalance", ["0x1", "latest"]),
      call("eth_getBalance", ["0x1"]),
      call("toy_refuses"),
      call("nothing_known"),
      call("toy_null"),
      call("toy_raw"),
      call("toy_throws"),
    ]);
    expect(answers).toEqual([
      "0x1c03",
      "0x1 at latest",
      invalidParams("parameter 2 (block) is missing"),
      ERRORS.blockNotFound,
      ERRORS.methodNotFound,
      null,
      new RawJson('{"a":[1,{"b":[]}]}'),
      ERRORS.internalError,
    ]);
    // The very errors, since metrics tell them apart by identity.
    expect(answers[3]).toBe(ERRORS.blockNotFound);
    expect(messages()).toBe(1);
    const pieces = await call("toy_pieces");
    expect(pieces).toBeInstanceOf(JsonPieces);
  });

  it("begin in their order", async () => {
    const { call, backend } = twoSides();
    const labels = Array.from({ length: 50 }, (_, index) => `${index}`);
    const all = labels.map((label) => call("toy_hold", [label]));
    await expect.poll(() => backend.calls).toEqual(labels);
    for (const finish of backend.held) finish("done");
    expect(await Promise.all(all)).toEqual(labels.map(() => "done"));
  });

  it("of one connection are of one client; a call whose caller is gone is abandoned there, too", async () => {
    const { call, backend } = twoSides();
    let isGone = false;
    const leaving = call("toy_hold", ["leaves"], { isAbandoned: () => isGone });
    const staying = call("toy_hold", ["stays"]);
    await expect.poll(() => backend.contexts.length).toBe(2);
    const [first, second] = backend.contexts;
    expect(first?.client).toBe(second?.client);
    expect(first?.isAbandoned()).toBe(false);
    isGone = true;
    await expect.poll(() => first?.isAbandoned()).toBe(true);
    expect(second?.isAbandoned()).toBe(false);
    for (const finish of backend.held) finish("done");
    await Promise.all([leaving, staying]);
  });

  it("are abandoned when their thread has ended, and not answered", async () => {
    const { call, atMain, backend } = twoSides();
    void call("toy_hold");
    await expect.poll(() => backend.contexts.length).toBe(1);
    atMain.drop();
    expect(backend.contexts[0]?.isAbandoned()).toBe(true);
    backend.held[0]?.("too late");
  });

  it("are refused when too many wait for the main thread", async () => {
    const { call } = twoSides();
    const all = Array.from({ length: 16_385 }, () => call("toy_later"));
    expect(await all.at(-1)).toBe("busy");
    expect(await all[0]).toBe("later");
  });

  it("are not begun while a thread that is held up has too much before it; they wait, and are answered then", async () => {
    const text = "0".repeat(10_000_000);
    let asked = 0;
    const { main, answerCredit, holdUp, goOn } = twoSides({
      readiness: () => {
        asked++;
        return [text];
      },
    });
    const timeouts = takeTimeouts();
    holdUp();
    const all = Array.from({ length: 20 }, () => main.ask({ kind: "readiness", query: "" }));
    await expect.poll(() => asked).toBe(Math.ceil(ANSWER_CREDIT_BYTES / text.length));
    await timeouts.advanceBy(10_000);
    expect(asked).toBe(Math.ceil(ANSWER_CREDIT_BYTES / text.length));
    expect(answerCredit.bytes).toBeGreaterThanOrEqual(ANSWER_CREDIT_BYTES);
    goOn();
    const answered = Promise.all(all);
    const answering = settling(answered);
    await expect
      .poll(async () => {
        await timeouts.advanceBy(1_000);
        return answering.isSettled;
      })
      .toBe(true);
    expect((await answered).flat()).toHaveLength(20);
    expect(answerCredit.bytes).toBe(0);
  });

  it("are made one at a time where they may be very large, and handed over without a copy", async () => {
    const { call, backend } = twoSides();
    const [first, second] = [call("toy_listing", ["first"]), call("toy_listing", ["second"])];
    await call("eth_chainId");
    expect(backend.calls.splice(0).toSorted()).toEqual(["eth_chainId", "first"]);
    backend.held[0]?.('"one"');
    expect(await first).toEqual(new JsonPieces([new Uint8Array(Buffer.from('"one"'))]));
    await expect.poll(() => backend.calls).toEqual([new Uint8Array(0), "second"]);
    backend.held[1]?.('"two"');
    expect(await second).toEqual(new JsonPieces([new Uint8Array(Buffer.from('"two"'))]));
  });

  it("that may be very large are made for those first who took little time, and not for those who are gone", async () => {
    const { call, main, backend } = twoSides();
    const other = { ...CALLER, client: 2, remoteHost: "10.0.0.2" };
    let isGone = false;
    const labels = (): unknown[] => backend.calls.filter((one) => typeof one === "string");
    const HOLD = "of the one who leaves";
    const all = [
      call("toy_listing", ["first"]),
      call("toy_listing", ["of one who leaves"], { isAbandoned: () => isGone }),
      call("toy_listing", ["second"]),
      main.ask({ kind: "call", method: "toy_listing", params: ["of another"], caller: other }),
      call("toy_hold", [HOLD], { isAbandoned: () => isGone }),
    ];
    await expect.poll(() => labels().toSorted()).toEqual(["first", HOLD]);
    const leaving = backend.contexts[labels().indexOf(HOLD)];
    isGone = true;
    await expect.poll(() => leaving?.isAbandoned()).toBe(true);
    for (let made = 0; made < 4; made++) {
      await expect.poll(() => backend.held.length).toBeGreaterThan(made);
      backend.held[made]?.("0");
    }
    await Promise.all(all);
    expect(labels().filter((one) => one !== HOLD)).toEqual(["first", "of another", "second"]);
  });

  it("whose callers are gone are told of once, however long the main thread is held up", async () => {
    const told: number[] = [];
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const main = createMainThread({
      gather: () => undefined,
      send: (kind, content) => {
        if (kind === "abandoned") told.push(...(content as FromThread["abandoned"]));
      },
    });
    onTestFinished(() => main.close());
    for (let count = 0; count < 3; count++)
      void main.ask({ kind: "readiness", query: "" }, { isAbandoned: () => true });
    vi.advanceTimersByTime(1_000);
    expect(told).toEqual([1, 2, 3]);
    vi.advanceTimersByTime(10_000);
    expect(told).toEqual([1, 2, 3]);
  });

  it("that the main thread fails at are failures of theirs alone", async () => {
    const { main } = twoSides({ readiness: () => JSON.parse("not JSON") });
    await expect(main.ask({ kind: "readiness", query: "" })).rejects.toThrow("JSON");
    const job = { kind: "call", call: {}, blockNumber: 1n } as SimulationJob;
    await expect(main.ask({ kind: "simulate", job, caller: CALLER })).rejects.toThrow("nothing is simulated");
  });
});

describe("work that lasts", () => {
  const requester = { remoteHost: "10.0.0.1", client: {}, isAbandoned: () => false };

  it("is queued on the main thread for its caller, and what it finds is handed over without a copy", async () => {
    const traces = [new Uint8Array(1000).fill(0x31), new Uint8Array(1000).fill(0x33)];
    const log = new Uint8Array(1000).fill(0x32);
    const shared = new Uint8Array(new ArrayBuffer(8), 0, 4);
    const jobs: unknown[] = [];
    const answer = async <Result>(result: Result, ...job: readonly unknown[]): Promise<Result> => {
      jobs.push(...job);
      return result;
    };
    const { main } = twoSides({
      simulator: { run: (job) => answer({ kind: "stateUnavailable" }, job) },
      stateQueries: { query: (job) => answer({ kind: "busy" }, job) },
      tracer: { run: (job, { remoteHost }) => answer({ kind: "traced", pieces: traces }, job, remoteHost) },
      findLogs: (...query) => answer({ kind: "found", pieces: ["1", log, shared] }, ...query.slice(0, 2)),
    });
    const work = createLastingWork(main);
    const call = { kind: "call", call: {}, blockNumber: 1n } as SimulationJob;
    expect(await work.simulator.run(call, requester)).toEqual({ kind: "stateUnavailable" });
    const query = { kind: "accounts", blockNumber: 2n, from: ZERO_HASH, limit: 3 } as const;
    expect(await work.stateQueries.query(query, requester)).toEqual({ kind: "busy" });
    const traced = await work.tracer.run({ kind: "block", blockNumber: 3n }, requester);
    expect(traced).toEqual({
      kind: "traced",
      pieces: [new Uint8Array(1000).fill(0x31), new Uint8Array(1000).fill(0x33)],
    });
    const criteria = { addresses: [], topics: ["any" as const] };
    const found = await work.findLogs(criteria, { from: 1n, to: 2n }, requester);
    expect(found).toEqual({
      kind: "found",
      pieces: ["1", new Uint8Array(1000).fill(0x32), new Uint8Array(4)],
    });
    expect(jobs).toEqual([
      call,
      query,
      { kind: "block", blockNumber: 3n },
      "10.0.0.1",
      criteria,
      { from: 1n, to: 2n },
    ]);
    // Detached here, except for what is part of other memory.
    expect([...traces, log, shared].map(({ length }) => length)).toEqual([0, 0, 0, 4]);
  });

  it("is refused when the main thread has too many requests", async () => {
    const work = createLastingWork({ ask: async () => "busy" });
    const job = { kind: "call", call: {}, blockNumber: 1n } as SimulationJob;
    expect(await work.simulator.run(job, requester)).toEqual({ kind: "busy" });
    expect(await work.tracer.run({ kind: "block", blockNumber: 1n }, requester)).toEqual({ kind: "busy" });
    const criteria = { addresses: [], topics: [] };
    expect(await work.findLogs(criteria, { from: 0n, to: 0n }, requester)).toEqual({ kind: "busy" });
  });
});

describe("an error from another thread", () => {
  it("keeps its data", () => {
    const error = fromRemote({ kind: "error", code: 3, message: "Execution reverted", data: "0x08" });
    expect(error).toEqual(new RpcError(3, "Execution reverted", "0x08"));
  });
});
