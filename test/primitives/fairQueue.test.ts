import { describe, expect, it } from "vitest";
import { FairQueue } from "../../src/primitives/fairQueue.ts";
import type { Requester } from "../../src/primitives/requester.ts";

interface Item {
  readonly name: string;
  readonly requester: Requester;
}

/** A client whose items are named after it: a1, a2, ... */
function aClient(
  letter: string,
  remoteHost = letter,
): { items(...numbers: number[]): readonly Item[]; isGone: boolean } {
  const client = { letter };
  const self = {
    isGone: false,
    items: (...numbers: number[]): readonly Item[] =>
      numbers.map((n) => ({
        name: `${letter}${n}`,
        // Each message of a connection has a requester of its own.
        requester: { remoteHost, client, isAbandoned: () => self.isGone },
      })),
  };
  return self;
}

function queueOf(...items: readonly Item[]): FairQueue<Item> {
  const queue = new FairQueue<Item>(100);
  for (const item of items) queue.add(item);
  return queue;
}

function takeSome(queue: FairQueue<Item>, count: number): readonly Item[] {
  return Array.from({ length: count }, () => queue.take()).filter((item) => item !== undefined);
}

function drain(queue: FairQueue<Item>): string {
  return takeSome(queue, 100)
    .map(({ name }) => name)
    .join(" ");
}

describe("a fair queue", () => {
  it("serves clients in turn, and the items of one in their order", () => {
    const [a, b, c] = [aClient("a"), aClient("b"), aClient("c")];
    const queue = queueOf(...a.items(1, 2, 3, 4), ...b.items(1, 2), ...c.items(1));
    expect(queue.size).toBe(7);
    expect(drain(queue)).toBe("a1 b1 c1 a2 b2 a3 a4");
    expect(queue.size).toBe(0);
  });

  it("puts items back at the front, and schedules the served client last", () => {
    const [a, b, c] = [aClient("a"), aClient("b"), aClient("c")];
    const queue = queueOf(...a.items(1, 2, 3, 4), ...b.items(1, 2, 3));
    const [served, ...back] = takeSome(queue, 5);
    for (const item of c.items(1)) queue.add(item);
    queue.putBack(back, served?.requester);
    expect(queue.size).toBe(7);
    expect(drain(queue)).toBe("b1 c1 a2 b2 a3 b3 a4");
  });

  it("serves a new client before one that was just served", () => {
    const [a, b] = [aClient("a"), aClient("b")];
    const queue = queueOf(...a.items(1, 2, 3));
    const [served] = takeSome(queue, 1);
    for (const item of b.items(1)) queue.add(item);
    queue.putBack([], served?.requester);
    expect(drain(queue)).toBe("b1 a2 a3");
  });

  it("removes abandoned items, and keeps the order of the others", () => {
    const [a, b, c] = [aClient("a"), aClient("b"), aClient("c")];
    const queue = queueOf(...a.items(1, 2), ...b.items(1, 2), ...c.items(1, 2));
    b.isGone = true;
    expect(queue.takeAbandoned().map(({ name }) => name)).toEqual(["b1", "b2"]);
    expect(queue.size).toBe(4);
    expect(drain(queue)).toBe("a1 c1 a2 c2");
  });

  it("serves remote hosts in turn, and the clients of one remote host in turn", () => {
    const [a, b, c] = [aClient("a", "crowd"), aClient("b", "crowd"), aClient("c", "alone")];
    const queue = queueOf(...a.items(1, 2, 3), ...b.items(1, 2), ...c.items(1, 2, 3));
    expect(drain(queue)).toBe("a1 c1 b1 c2 a2 c3 b2 a3");
  });

  it("puts items back at the front, and schedules the served remote host and client last", () => {
    const [a, b, c] = [aClient("a", "crowd"), aClient("b", "crowd"), aClient("c", "alone")];
    const queue = queueOf(...a.items(1, 2, 3), ...b.items(1, 2), ...c.items(1, 2));
    const [served, ...back] = takeSome(queue, 3);
    queue.putBack(back, served?.requester);
    expect(queue.size).toBe(6);
    expect(drain(queue)).toBe("c1 b1 c2 a2 b2 a3");
  });
});

describe("a fair queue that is full", () => {
  function addAll(limit: number, ...items: readonly Item[]): { dropped: string; kept: string } {
    const queue = new FairQueue<Item>(limit);
    const dropped = items.map((item) => queue.add(item)?.name).filter((name) => name !== undefined);
    return { dropped: dropped.join(" "), kept: drain(queue) };
  }

  it("drops the newest item of the remote host with the most, even if each of its clients has few", () => {
    const crowd = ["a", "b", "c"].map((letter) => aClient(letter, "crowd"));
    const alone = aClient("z");
    const all = [...crowd.flatMap((each) => each.items(1)), ...alone.items(1, 2)];
    expect(addAll(3, ...all)).toEqual({ dropped: "c1 z2", kept: "a1 z1 b1" });
  });

  it("drops the newest item of that remote host's client with the most", () => {
    const [a, b, c] = [aClient("a", "crowd"), aClient("b", "crowd"), aClient("c", "crowd")];
    const all = [...a.items(1), ...b.items(1, 2, 3), ...c.items(1)];
    expect(addAll(4, ...all)).toEqual({ dropped: "b3", kept: "a1 b1 c1 b2" });
  });

  it("drops the new item of a requester who has as many as any other", () => {
    const [a, b] = [aClient("a"), aClient("b")];
    const all = [a, b].flatMap((each) => each.items(1, 2)).concat(b.items(3), a.items(3));
    expect(addAll(4, ...all)).toEqual({ dropped: "b3 a3", kept: "a1 b1 a2 b2" });
  });
});
