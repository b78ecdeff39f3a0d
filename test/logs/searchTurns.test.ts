import { describe, expect, it } from "vitest";
import { SearchTurns, type TurningSearch } from "../../src/logs/searchTurns.ts";

describe("the turns of searches on one thread", () => {
  it("gives nobody a turn while a search waits for the database within its own, nor charges it for others", async () => {
    const { turns, work, order } = thread();
    const [waiting, other] = [search("10.0.0.1", true), search("10.0.0.2", false)];
    let read = (): void => undefined;
    const block = new Promise<void>((resolve) => {
      read = resolve;
    });
    const both = [
      turns.next(waiting).then(async () => {
        work("before the read", 1);
        await block;
        work("after the read", 2);
        turns.end(waiting);
      }),
      turns.next(other).then(() => {
        work("the other", 80);
        turns.end(other);
      }),
    ];
    for (let cycle = 0; cycle < 10; cycle++) await nextCycle();
    read();
    await Promise.all(both);
    expect(order).toEqual(["before the read", "after the read", "the other"]);
    expect(waiting.usedMs).toBe(3);
    expect(other.usedMs).toBe(80);
  });

  it("gives short searches as much time as long ones, whose steps take many times as long", async () => {
    const { turns, work, order } = thread();
    const run = async (name: string, one: TurningSearch, steps: number, stepMs: number): Promise<void> => {
      for (let step = 0; step < steps; step++) {
        await turns.next(one);
        work(name, stepMs);
      }
      turns.end(one);
    };
    await Promise.all([
      run("long", search("10.0.0.1", false), 3, 80),
      run("short", search("10.0.0.2", true), 20, 5),
    ]);
    // 5 ms, 80 ms, then 80 ms in steps of 5 until the short one has had more.
    expect(order.slice(0, 2)).toEqual(["short", "long"]);
    expect(order.slice(2, 18)).toEqual(Array.from({ length: 16 }, () => "short"));
    expect(order[18]).toBe("long");
    expect(order.slice(19).toSorted()).toEqual(["long", "short", "short", "short"]);
  });

  it("lets long ones have turns while there are always short ones", async () => {
    const { turns, work, order } = thread();
    const long = search("10.0.0.1", false);
    const shorts = Array.from({ length: 5 }, (_, index) => search(`10.0.1.${index}`, true));
    let isOver = false;
    const asking = shorts.map(async (short) => {
      while (!isOver) {
        await turns.next(short);
        work("short", 10);
      }
      turns.end(short);
    });
    for (let step = 0; step < 10; step++) {
      await turns.next(long);
      work("long", 10);
    }
    turns.end(long);
    isOver = true;
    await Promise.all(asking);
    const upToLast = order.slice(0, order.lastIndexOf("long") + 1);
    expect(upToLast.filter((name) => name === "short").length).toBeLessThanOrEqual(11);
  });

  it("lets searches end at once that nobody wants any more, however much their callers have used", async () => {
    const { turns, work, order } = thread();
    const [wanted, unwanted] = [search("10.0.0.1", false), search("10.0.0.2", false)];
    await turns.next(unwanted);
    work("used much", 10_000);
    const left = { ...unwanted, requester: { ...unwanted.requester, isAbandoned: () => true } };
    turns.end(unwanted);
    const ends = [wanted, search("10.0.0.3", true), left].map((one) =>
      turns.next(one).then(() => {
        work(one.requester.remoteHost, 1);
        turns.end(one);
      }),
    );
    await Promise.all(ends);
    expect(order).toEqual(["used much", "10.0.0.2", "10.0.0.3", "10.0.0.1"]);
  });
});

/** A thread whose processor time passes only in `work`. */
function thread() {
  let nowMs = 0;
  const order: string[] = [];
  const turns = new SearchTurns({ nowMs: () => nowMs, cpuMs: () => nowMs });
  const work = (name: string, ms: number): void => {
    order.push(name);
    nowMs += ms;
  };
  return { turns, work, order };
}

function search(remoteHost: string, isQuick: boolean): TurningSearch {
  return { requester: { remoteHost, client: {}, isAbandoned: () => false }, isQuick, usedMs: 0 };
}

function nextCycle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
