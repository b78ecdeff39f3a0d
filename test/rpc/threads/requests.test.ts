import { describe, expect, it, onTestFinished, vi } from "vitest";
import { VoteProposals } from "../../../src/consensus/voteProposals.ts";
import type { SimulationJob } from "../../../src/execution/simulation/callRequest.ts";
import { packCriteria } from "../../../src/logs/packedCriteria.ts";
import { asAddress, ZERO_ADDRESS } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { ZERO_HASH } from "../../../src/primitives/hash.ts";
import type { Requester } from "../../../src/primitives/requester.ts";
import type { Core } from "../../../src/rpc/core/core.ts";
import { packTransactions } from "../../../src/rpc/core/packedTransactions.ts";
import { createRemoteCore } from "../../../src/rpc/core/remoteCore.ts";
import { TooManyRequests } from "../../../src/rpc/core/tooManyRequests.ts";
import { HostCredit } from "../../../src/rpc/threads/callerSide/hostCredit.ts";
import { estimateSize } from "../../../src/rpc/threads/estimateSize.ts";
import { MESSAGES } from "../../../src/rpc/threads/messages.ts";
import type { CoreOutcome, CoreRequest } from "../../../src/rpc/threads/protocol.ts";
import { BlockRemoved } from "../../../src/types/blockRemoved.ts";
import { StateRemoved } from "../../../src/types/stateRemoved.ts";
import { RequestFailed, RequestSender } from "../../../src/workers/channel/requestSender.ts";
import { seal } from "../../../src/workers/sealed.ts";
import { aChannel } from "../../builders/aChannel.ts";
import { aCore, QUIET_CONSENSUS } from "../../builders/anRpcBackend.ts";
import { aRemoteCore } from "../../builders/aRemoteCore.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { settling, takeTimeouts } from "../../builders/handTimeouts.ts";
import { loggedLines } from "../../builders/loggedLines.ts";
import { itIfThorough } from "../../thorough.ts";

const CALLER: Requester = { client: {}, remoteHost: "10.0.0.1", isAbandoned: () => false };

/** A core whose calls of one kind are held until the test answers them, by the text that they were made with. */
function aHoldingCore() {
  const calls: string[] = [];
  const requesters: Requester[] = [];
  const held: ((answer: boolean) => void)[] = [];
  const core = aCore({});
  const remove: Core["filters"]["remove"] = (id, requester) => {
    calls.push(id);
    requesters.push(requester);
    return new Promise((resolve) => held.push(resolve));
  };
  return { core: { ...core, filters: { ...core.filters, remove } }, calls, requesters, held };
}

/** A core whose listings of the pool are held until the test answers them; `calls` are the senders that are asked for. */
function aListingCore() {
  const { core, ...holding } = aHoldingCore();
  const senders: number[] = [];
  const made: (() => void)[] = [];
  const bySender: Core["pool"]["bySender"] = (sender) => {
    senders.push(sender?.[19] ?? 0);
    return new Promise((resolve) =>
      made.push(() => {
        const none = { transactions: packTransactions([]), omitted: 0, shownBytes: 0 };
        resolve({ pending: none, queued: none });
      }),
    );
  };
  return { ...holding, core: { ...core, pool: { ...core.pool, bySender } }, senders, made };
}

function sender(number: number): typeof ZERO_ADDRESS {
  const address = Uint8Array.from(ZERO_ADDRESS);
  address[19] = number;
  return address as typeof ZERO_ADDRESS;
}

describe("calls of the core that a thread makes", () => {
  it("go to the main thread in their order, those of one event-loop cycle as one message", async () => {
    const { core: main, calls, held } = aHoldingCore();
    const { core, messages } = aRemoteCore(main);
    const labels = Array.from({ length: 50 }, (_, index) => `${index}`);
    const all = labels.map((label) => core.filters.remove(label, CALLER));
    await expect.poll(() => calls).toEqual(labels);
    expect(messages()).toBe(1);
    for (const [index, finish] of held.entries()) finish(index % 2 === 0);
    expect(await Promise.all(all)).toEqual(labels.map((_, index) => index % 2 === 0));
  });

  it("of one connection are of one client; one whose caller is gone is abandoned there, too", async () => {
    const { core: main, requesters, held } = aHoldingCore();
    const { core } = aRemoteCore(main);
    let isGone = false;
    const leaving = core.filters.remove("leaves", { ...CALLER, isAbandoned: () => isGone });
    const staying = core.filters.remove("stays", CALLER);
    const other = core.filters.remove("another", { ...CALLER, client: {} });
    await expect.poll(() => requesters.length).toBe(3);
    const [first, second, third] = requesters;
    expect(first?.client).toBe(second?.client);
    expect(third?.client).not.toBe(second?.client);
    expect(first?.remoteHost).toBe("10.0.0.1");
    expect(first?.isAbandoned()).toBe(false);
    isGone = true;
    await expect.poll(() => first?.isAbandoned()).toBe(true);
    expect(second?.isAbandoned()).toBe(false);
    for (const finish of held) finish(true);
    await Promise.all([leaving, staying, other]);
  });

  it("are abandoned when their thread has ended, and not answered", async () => {
    const { core: main, requesters, held } = aHoldingCore();
    const { core, drop } = aRemoteCore(main);
    void core.filters.remove("", CALLER);
    await expect.poll(() => requesters.length).toBe(1);
    drop();
    expect(requesters[0]?.isAbandoned()).toBe(true);
    held[0]?.(true);
  });

  it("are refused when too many wait for the main thread, each in its own way", async () => {
    const { core } = aRemoteCore(aCore({}));
    const most = MESSAGES.requests.most.messages / 2;
    const all = Array.from({ length: most }, () => core.filters.remove("", CALLER));
    await expect(core.filters.remove("", CALLER)).rejects.toThrow(TooManyRequests);
    const job = { kind: "call", call: {}, blockNumber: 1n } as SimulationJob;
    const criteria = packCriteria({ addresses: [], topics: [] });
    expect(
      await Promise.all([
        core.jobs.simulate(job, CALLER),
        core.jobs.trace({ kind: "block", blockNumber: 1n }, CALLER),
        core.jobs.findLogs(criteria, { from: 0n, to: 0n }, CALLER),
        core.serving.readiness("", CALLER),
        core.serving.descriptor("http", CALLER),
      ]),
    ).toEqual([{ kind: "busy" }, { kind: "busy" }, { kind: "busy" }, ["too many requests wait"], undefined]);
    expect(await all[0]).toBe(false);
  });

  itIfThorough(
    "are not begun while a thread that is held up has too much before it; they wait, and are answered then",
    async () => {
      const text = "0".repeat(10_000_000);
      let asked = 0;
      const main = aCore({});
      const readiness = async () => {
        asked++;
        return [text];
      };
      const { core, answerCredit, holdUp, goOn } = aRemoteCore({
        ...main,
        serving: { ...main.serving, readiness },
      });
      const timeouts = takeTimeouts();
      holdUp();
      const most = MESSAGES.answers.most.bytes;
      const all = Array.from({ length: 20 }, () => core.serving.readiness("", CALLER));
      await expect.poll(() => asked).toBe(Math.ceil(most / text.length));
      await timeouts.advanceBy(10_000);
      expect(asked).toBe(Math.ceil(most / text.length));
      expect(answerCredit.bytes).toBeGreaterThanOrEqual(most);
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
    },
  );

  it("are made one at a time where their results may be very large, and others meanwhile", async () => {
    const { core: main, senders, made } = aListingCore();
    const { core } = aRemoteCore(main);
    const [first, second] = [1, 2].map((one) => core.pool.bySender(sender(one), 0, CALLER));
    await core.pool.nextNonce(ZERO_ADDRESS, CALLER);
    expect(senders).toEqual([1]);
    made[0]?.();
    await first;
    await expect.poll(() => senders).toEqual([1, 2]);
    made[1]?.();
    await second;
  });

  it("that may be very large are made for those first who took little time, and not for those who are gone", async () => {
    const { core: main, senders, made, requesters, held } = aListingCore();
    const { core } = aRemoteCore(main);
    const other = { ...CALLER, client: {}, remoteHost: "10.0.0.2" };
    let isGone = false;
    const leaver = { ...CALLER, isAbandoned: () => isGone };
    const all = [
      core.pool.bySender(sender(1), 0, CALLER),
      core.pool.bySender(sender(2), 0, leaver),
      core.pool.bySender(sender(3), 0, CALLER),
      core.pool.bySender(sender(4), 0, other),
      core.filters.remove("of the one who leaves", leaver),
    ];
    await expect.poll(() => [senders.length, requesters.length]).toEqual([1, 1]);
    isGone = true;
    await expect.poll(() => requesters[0]?.isAbandoned()).toBe(true);
    held[0]?.(true);
    for (let count = 0; count < 3; count++) {
      await expect.poll(() => made.length).toBeGreaterThan(count);
      made[count]?.();
    }
    await Promise.all(all);
    expect(senders).toEqual([1, 4, 3]);
  });

  it("whose callers are gone are told of once, however long the main thread is held up", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const ends = aChannel();
    const requests = new RequestSender<CoreRequest, CoreOutcome>(
      ends.thread,
      new HostCredit("requests"),
      estimateSize,
    );
    onTestFinished(() => requests.close());
    const core = createRemoteCore(requests, { submit: () => expect.fail("nothing is submitted") });
    for (let count = 0; count < 3; count++)
      void core.serving.readiness("", { ...CALLER, isAbandoned: () => true });
    const told = () => ends.fromThread.flatMap((part) => (part.kind === "abandoned" ? part.content : []));
    vi.advanceTimersByTime(1_000);
    expect(told()).toEqual([1, 2, 3]);
    vi.advanceTimersByTime(10_000);
    expect(told()).toEqual([1, 2, 3]);
  });

  it("that the main thread fails at are failures of theirs alone, which it logs", async () => {
    const { logger, lines } = loggedLines();
    const main = aCore({});
    const readiness = async (): Promise<never> => {
      throw new Error("a bug");
    };
    const { core } = aRemoteCore({ ...main, serving: { ...main.serving, readiness } }, logger);
    await expect(core.serving.readiness("", CALLER)).rejects.toThrow(RequestFailed);
    expect(lines).toHaveLength(1);
    expect(await core.pool.nextNonce(ZERO_ADDRESS, CALLER)).toBe(0n);
  });

  it("whose arguments cannot cross threads are a fault of this thread, and take no other along", async () => {
    const { core } = aRemoteCore(aCore({}));
    const uncloneable = (() => undefined) as unknown as string;
    const [failed, after] = await Promise.allSettled([
      core.filters.remove(uncloneable, CALLER),
      core.filters.remove("0x1", CALLER),
    ]);
    expect(failed).toMatchObject({ status: "rejected", reason: { name: "DataCloneError" } });
    expect(after).toMatchObject({ value: false });
  });

  it("whose result cannot cross threads fail alone, and take neither the node nor other answers along", async () => {
    const { logger, lines } = loggedLines();
    const main = aCore({});
    const uncloneable = { pending: 0, queued: 0, local: 0, remote: 0, bytes: 0, close: () => undefined };
    const { core, answerCredit } = aRemoteCore(
      { ...main, pool: { ...main.pool, statistics: async () => uncloneable } },
      logger,
    );
    const [before, failed, after] = await Promise.allSettled([
      core.pool.nextNonce(ZERO_ADDRESS, CALLER),
      core.pool.statistics(CALLER),
      core.filters.remove("0x1", CALLER),
    ]);
    expect([before, after]).toMatchObject([{ value: 0n }, { value: false }]);
    expect(failed).toMatchObject({ status: "rejected", reason: { name: "RequestFailed" } });
    expect(lines).toHaveLength(1);
    await expect.poll(() => [answerCredit.messages, answerCredit.bytes]).toEqual([0, 0]);
  });

  it("reject as on the main thread when what they read was removed meanwhile, which is no fault", async () => {
    const { logger, lines } = loggedLines();
    const main = aCore({});
    const rejecting = (error: Error) => ({ ...main.filters, logs: () => Promise.reject(error) });
    for (const [removed, type] of [
      [new BlockRemoved(7n), BlockRemoved],
      [new StateRemoved(7n), StateRemoved],
    ] as const) {
      const { core } = aRemoteCore({ ...main, filters: rejecting(removed) }, logger);
      await expect(core.filters.logs("0x1", CALLER)).rejects.toThrow(type);
    }
    expect(lines).toEqual([]);
  });
});

describe("jobs", () => {
  it("are queued on the main thread for their caller, unread, and what they find is handed over without a copy", async () => {
    const traces = [new Uint8Array(1000).fill(0x31), new Uint8Array(1000).fill(0x33)];
    const log = new Uint8Array(1000).fill(0x32);
    const shared = new Uint8Array(new ArrayBuffer(8), 0, 4);
    const jobs: unknown[] = [];
    const answer = async <Result>(result: Result, ...job: readonly unknown[]): Promise<Result> => {
      jobs.push(...job);
      return result;
    };
    const { core } = aRemoteCore(
      aCore({
        simulator: { run: (job) => answer({ kind: "stateUnavailable" }, job) },
        stateQueries: { query: (job) => answer({ kind: "busy" }, job) },
        tracer: { run: (job, { remoteHost }) => answer({ kind: "traced", pieces: traces }, job, remoteHost) },
        findLogs: (...query) => answer({ kind: "found", pieces: ["1", log, shared] }, ...query.slice(0, 2)),
      }),
    );
    const call = { kind: "call", call: {}, blockNumber: 1n } as SimulationJob;
    expect(await core.jobs.simulate(call, CALLER)).toEqual({ kind: "stateUnavailable" });
    const query = { kind: "accounts", blockNumber: 2n, from: ZERO_HASH, limit: 3 } as const;
    expect(await core.jobs.query(query, CALLER)).toEqual({ kind: "busy" });
    expect(await core.jobs.trace({ kind: "block", blockNumber: 3n }, CALLER)).toEqual({
      kind: "traced",
      pieces: [new Uint8Array(1000).fill(0x31), new Uint8Array(1000).fill(0x33)],
    });
    const criteria = { addresses: [ZERO_ADDRESS], topics: ["any" as const, [ZERO_HASH]] };
    expect(await core.jobs.findLogs(packCriteria(criteria), { from: 1n, to: 2n }, CALLER)).toEqual({
      kind: "found",
      pieces: ["1", new Uint8Array(1000).fill(0x32), new Uint8Array(4)],
    });
    expect(jobs).toEqual([
      structuredClone(seal(call)),
      structuredClone(seal(query)),
      structuredClone(seal({ kind: "block", blockNumber: 3n })),
      "10.0.0.1",
      criteria,
      { from: 1n, to: 2n },
    ]);
    // Detached here, except for what is part of other memory.
    expect([...traces, log, shared].map(({ length }) => length)).toEqual([0, 0, 0, 4]);
  });
});

describe("results of calls", () => {
  it("take the bytes of their results, not the megabytes of a block that an address is part of", async () => {
    const block = new Uint8Array(9_000_000);
    const part = (at: number) => asAddress(block.subarray(at, at + 20));
    const [member, other] = [part(20), part(40)];
    const status = {
      ...QUIET_CONSENSUS,
      self: part(0),
      validators: [member, other],
      votes: { outstanding: [{ recipient: part(60), add: [member], drop: [] }], needed: 1, expireAt: 9n },
    };
    const main = aCore({ consensus: { proposals: new VoteProposals(), status: () => status } });
    const { core, answerCredit, holdUp, goOn } = aRemoteCore(main);
    holdUp();
    const asked = Array.from({ length: 1_000 }, () => core.consensus.status(CALLER));
    await expect.poll(() => answerCredit.messages).toBe(1_000);
    expect(answerCredit.bytes).toBeLessThan(2_000_000);
    goOn();
    const [answer] = await Promise.all(asked);
    expect(answer).toEqual(status);
    const { self, validators, votes } = expectDefined(answer, "an answer");
    const crossed = [
      self,
      ...validators,
      ...votes.outstanding.flatMap(({ recipient, add }) => [recipient, ...add]),
    ];
    expect(crossed.map(({ buffer }) => buffer.byteLength)).toEqual([20, 20, 20, 20, 20]);
  });

  it("hand over pooled transactions without a copy, one and listings of many", async () => {
    const main = aCore({});
    const [one, pending, queued, matching] = Array.from({ length: 4 }, () =>
      packTransactions([aTransaction()]),
    );
    const listingOf = (packed = one) => ({
      transactions: expectDefined(packed, "one of four"),
      shownBytes: 0,
    });
    const { core } = aRemoteCore({
      ...main,
      pool: {
        ...main.pool,
        transaction: async () => listingOf(one).transactions,
        bySender: async () => ({
          pending: { ...listingOf(pending), omitted: 0 },
          queued: { ...listingOf(queued), omitted: 0 },
        }),
        matching: async () => listingOf(matching),
      },
    });
    const length = one?.length;
    expect(await core.pool.transaction(ZERO_HASH, CALLER)).toHaveLength(length ?? 0);
    const bySender = await core.pool.bySender(undefined, 0, CALLER);
    expect([bySender.pending, bySender.queued].map(({ transactions }) => transactions.length)).toEqual([
      length,
      length,
    ]);
    expect(await core.pool.matching([], 1, 0, CALLER)).toMatchObject({ shownBytes: 0 });
    expect([one, pending, queued, matching].map((packed) => packed?.length)).toEqual([0, 0, 0, 0]);
  });
});
