import { describe, expect, it } from "vitest";
import type { LocatedTransaction } from "../../src/chain/chainReader.ts";
import type { HeadChange } from "../../src/chain/onNewHead.ts";
import { asHash, type Hash } from "../../src/primitives/hash.ts";
import { InclusionWaits } from "../../src/rpc/inclusionWaits.ts";
import { createHandClock } from "../builders/handClock.ts";

const HASH = asHash(new Uint8Array(32).fill(7));
/** Only its identity counts. */
const LOCATED = {} as LocatedTransaction;

/** A chain that has a transaction once told so, and a clock that the test turns. `onListening` is called when a listener is added. */
function aWait(onListening: (include: () => void) => void = () => undefined) {
  const clock = createHandClock(0);
  const listeners = new Set<(change: HeadChange) => void>();
  let found: LocatedTransaction | undefined;
  const include = (): void => {
    found = LOCATED;
  };
  const waits = new InclusionWaits({
    chain: {
      transactionByHash: (_hash: Hash) => found,
      onHeadChanged(_row, listener) {
        onListening(include);
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    clock,
  });
  return {
    waits,
    clock,
    listeners,
    include,
    newHead: () => {
      for (const listener of [...listeners]) listener({} as HeadChange);
    },
  };
}

describe("a wait for inclusion", () => {
  const limits = { timeoutMs: 2000, isAbandoned: () => false };

  it("ends at the head that includes the transaction, and listens no more", async () => {
    const { waits, include, newHead, listeners, clock } = aWait();
    const included = waits.included(HASH, limits);
    newHead();
    include();
    newHead();
    expect(await included).toBe(LOCATED);
    expect([listeners.size, clock.nextAlarmMs]).toEqual([0, undefined]);
  });

  it("is none when a block has the transaction already", async () => {
    const { waits, include, listeners } = aWait();
    include();
    expect(await waits.included(HASH, limits)).toBe(LOCATED);
    expect(listeners.size).toBe(0);
  });

  it("ends at once where the chain has got to the block by listening", async () => {
    const { waits, listeners, clock } = aWait((include) => include());
    expect(await waits.included(HASH, limits)).toBe(LOCATED);
    expect([listeners.size, clock.nextAlarmMs]).toEqual([0, undefined]);
  });

  it("ends without it when the time is up", async () => {
    const { waits, clock, listeners } = aWait();
    const included = waits.included(HASH, limits);
    clock.advanceBy(2000);
    expect(await included).toBeUndefined();
    expect(listeners.size).toBe(0);
  });

  it("ends at the next head when the caller is gone", async () => {
    const { waits, newHead, clock } = aWait();
    let isAbandoned = false;
    const included = waits.included(HASH, { timeoutMs: 2000, isAbandoned: () => isAbandoned });
    isAbandoned = true;
    newHead();
    expect(await included).toBeUndefined();
    expect(clock.nextAlarmMs).toBeUndefined();
  });
});

describe("places for waits", () => {
  /** Occupies places that end with `free`; counts those that were given. */
  function occupy(waits: InclusionWaits, hosts: readonly string[]) {
    const ends: (() => void)[] = [];
    const hold = (): Promise<true> => new Promise((resolve) => ends.push(() => resolve(true)));
    const all = hosts.map((host) => waits.within(host, hold));
    return {
      given: ends.length,
      async free() {
        for (const end of ends) end();
        await Promise.all(all);
      },
    };
  }

  const times = (count: number, host: string) => Array.from({ length: count }, () => host);

  it("are half of all for one host alone, and given back", async () => {
    const { waits } = aWait();
    const first = occupy(waits, times(251, "10.0.0.1"));
    expect(first.given).toBe(250);
    const second = occupy(waits, ["10.0.0.2"]);
    expect(second.given).toBe(1);
    await first.free();
    const third = occupy(waits, times(251, "10.0.0.1"));
    expect(third.given).toBe(250);
    await Promise.all([second, third].map((each) => each.free()));
  });

  it("are bounded for all hosts together", async () => {
    const { waits } = aWait();
    const hosts = Array.from({ length: 1001 }, (_, index) => `10.0.${index % 250}.1`);
    const held = occupy(waits, hosts);
    // The last host would need more than half of what the others leave.
    expect(held.given).toBe(499);
    await held.free();
  });

  it("are given back when the work fails", async () => {
    const { waits } = aWait();
    for (let index = 0; index < 300; index++)
      await expect(waits.within("10.0.0.1", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    const held = occupy(waits, ["10.0.0.1"]);
    expect(held.given).toBe(1);
    await held.free();
  });
});
