import { describe, expect, it } from "vitest";
import { listenFirst } from "../../src/consensus/listening.ts";
import { describeStatus } from "../../src/consensus/monitor/status.ts";
import { type State, UNSTARTED } from "../../src/ibft/state.ts";
import type { Address } from "../../src/primitives/address.ts";
import { createHandClock } from "../builders/handClock.ts";
import { aCandidate, aGenesisHead, aSchedule, headOf, toyAddresses, toyRules } from "../builders/toyChain.ts";

const [SELF, ...OTHERS] = toyAddresses(4) as [Address, ...Address[]];

/** A validator that has just started, with the connections and the head that a test gives it. */
function aStart({ shouldListen = true, hasOtherNodeKey = false, votedAt = 0n, isLevel = true } = {}) {
  const clock = createHandClock(0);
  const schedule = aSchedule();
  const events: string[] = [];
  let state: State = { ...UNSTARTED, head: aGenesisHead([SELF, ...OTHERS]) };
  let connected: readonly Address[] = [];
  let asks = 0;
  let hasAll = isLevel;
  const members = [SELF, ...OTHERS].map((address) => ({
    ...{ address, lastHeard: undefined, isPresent: false, missedTurns: 0, clockAheadMs: [] },
  }));
  const rules = toyRules(SELF, schedule);
  listenFirst(
    {
      engine: {
        shouldListen: () => shouldListen,
        votedAt: () => votedAt,
        keyWatch: { ask: () => void asks++ },
        status: () => describeStatus(state, { rules, isFailed: false, members, connected }),
      },
      hold: {
        pause: () => events.push("listens"),
        resume: () => events.push(`votes after ${clock.nowMs()} ms`),
      },
      schedule,
      hasOtherNodeKey,
      isLevel: () => hasAll,
    },
    clock,
  );
  return {
    events,
    catchUp() {
      hasAll = true;
    },
    wait: (ms: number) => {
      for (let past = 0; past < ms; past += 100) clock.advanceBy(100);
    },
    connect(count: number) {
      connected = OTHERS.slice(0, count);
    },
    block() {
      if (state.head !== undefined) state = { ...state, head: headOf(state.head, aCandidate(state.head)) };
    },
  };
}

describe("a validator that starts", () => {
  it("votes as soon as all others are connected: no second node can be", () => {
    const { events, connect, wait } = aStart();
    connect(2);
    wait(500);
    connect(3);
    wait(5_000);
    expect(events).toEqual(["listens", "votes after 600 ms"]);
  });

  it("has the blocks of its peers first, in which votes may be that its record lacks", () => {
    const { events, catchUp, connect, wait } = aStart({ isLevel: false });
    connect(3);
    wait(4_000);
    expect(events).toEqual(["listens"]);
    catchUp();
    wait(1_000);
    expect(events).toEqual(["listens", "votes after 4100 ms"]);
  });

  it("waits for blocks that never come no longer than for anything else", () => {
    const { events, connect, wait } = aStart({ isLevel: false });
    connect(3);
    wait(20_000);
    expect(events).toEqual(["listens", "votes after 10100 ms"]);
  });

  it("listens on though all others are connected, when nodes of other keys may share its validator's", () => {
    const { events, connect, wait } = aStart({ hasOtherNodeKey: true });
    connect(3);
    wait(5_000);
    expect(events).toEqual(["listens", "votes after 3100 ms"]);
  });

  it("votes when a block of each validator has come without its key", () => {
    const { events, block, connect, wait } = aStart();
    connect(1);
    for (let number = 1; number <= 4; number++) {
      wait(1_000);
      block();
    }
    wait(5_000);
    expect(events).toEqual(["listens", "votes after 4100 ms"]);
  });

  it("votes when the chain stalls, which may need it", () => {
    const { events, connect, wait } = aStart();
    connect(2);
    wait(9_000);
    expect(events).toEqual(["listens", "votes after 3100 ms"]);
  });

  it("votes ten seconds after its first connection in any case", () => {
    const { events, block, connect, wait } = aStart();
    connect(1);
    for (let number = 1; number <= 3; number++) {
      wait(2_900);
      block();
    }
    wait(5_000);
    expect(events).toEqual(["listens", "votes after 10100 ms"]);
  });

  it("counts from its first connection with a validator: before, it hears nothing and nobody hears it", () => {
    const { events, connect, wait } = aStart();
    wait(60_000);
    expect(events).toEqual(["listens"]);
    connect(1);
    wait(2_000);
    connect(0);
    wait(60_000);
    connect(2);
    wait(9_000);
    expect(events).toEqual(["listens", "votes after 125100 ms"]);
  });

  it("votes after half a second where its record of this height binds it", () => {
    const { events, connect, wait } = aStart({ votedAt: 1n });
    wait(1_000);
    connect(1);
    wait(5_000);
    expect(events).toEqual(["listens", "votes after 1600 ms"]);
  });

  it("votes at once where it is alone, or silent anyway", () => {
    const { events, wait } = aStart({ shouldListen: false });
    wait(5_000);
    expect(events).toEqual([]);
  });
});
