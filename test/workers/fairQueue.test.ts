import { describe, expect, it } from "vitest";
import type { Requester } from "../../src/primitives/requester.ts";
import { FairQueue } from "../../src/workers/fairQueue.ts";

interface Item {
  readonly name: string;
  readonly requester: Requester;
}

/** Asks for items that are named after it: a1, a2, ... */
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
        // Each message of a connection has an requester of its own.
        requester: { remoteHost: remoteHost, client, isAbandoned: () => self.isGone },
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

function rest(queue: FairQueue<Item>): string {
  return takeSome(queue, 100)
    .map(({ name }) => name)
    .join(" ");
}

describe("a fair queue", () => {
  it("takes one of each client in turn, and those of one in their order", () => {
    const [a, b, c] = [aClient("a"), aClient("b"), aClient("c")];
    const queue = queueOf(...a.items(1, 2, 3, 4), ...b.items(1, 2), ...c.items(1));
    expect(queue.size).toBe(7);
    expect(rest(queue)).toBe("a1 b1 c1 a2 b2 a3 a4");
    expect(queue.size).toBe(0);
  });

  it("puts back to the head what was taken, and lets the one that was served wait longest", () => {
    const [a, b, c] = [aClient("a"), aClient("b"), aClient("c")];
    const queue = queueOf(...a.items(1, 2, 3, 4), ...b.items(1, 2, 3));
    const [served, ...back] = takeSome(queue, 5);
    for (const item of c.items(1)) queue.add(item);
    queue.putBack(back, served?.requester);
    expect(queue.size).toBe(7);
    expect(rest(queue)).toBe("b1 c1 a2 b2 a3 b3 a4");
  });

  it("gives somebody new the next turn when a client was served that had come before", () => {
    const [a, b] = [aClient("a"), aClient("b")];
    const queue = queueOf(...a.items(1, 2, 3));
    const [served] = takeSome(queue, 1);
    for (const item of b.items(1)) queue.add(item);
    queue.putBack([], served?.requester);
    expect(rest(queue)).toBe("b1 a2 a3");
  });

  it("takes out what nobody waits for any more, and leaves the others their turns", () => {
    const [a, b, c] = [aClient("a"), aClient("b"), aClient("c")];
    const queue = queueOf(...a.items(1, 2), ...b.items(1, 2), ...c.items(1, 2));
    b.isGone = true;
    expect(queue.takeAbandoned().map(({ name }) => name)).toEqual(["b1", "b2"]);
    expect(queue.size).toBe(4);
    expect(rest(queue)).toBe("a1 c1 a2 c2");
  });

  it("takes from machines in turn, and from the clients of one in turn when it is that one's", () => {
    const [a, b, c] = [aClient("a", "crowd"), aClient("b", "crowd"), aClient("c", "alone")];
    const queue = queueOf(...a.items(1, 2, 3), ...b.items(1, 2), ...c.items(1, 2, 3));
    expect(rest(queue)).toBe("a1 c1 b1 c2 a2 c3 b2 a3");
  });

  it("puts back to the head by remoteHost and client, and lets both that were served wait longest", () => {
    const [a, b, c] = [aClient("a", "crowd"), aClient("b", "crowd"), aClient("c", "alone")];
    const queue = queueOf(...a.items(1, 2, 3), ...b.items(1, 2), ...c.items(1, 2));
    const [served, ...back] = takeSome(queue, 3);
    queue.putBack(back, served?.requester);
    expect(queue.size).toBe(6);
    expect(rest(queue)).toBe("c1 b1 c2 a2 b2 a3");
  });
});

describe("a fair queue that is full", () => {
  function offer(limit: number, ...items: readonly Item[]): { lost: string; kept: string } {
    const queue = new FairQueue<Item>(limit);
    const lost = items.map((item) => queue.add(item)?.name).filter((name) => name !== undefined);
    return { lost: lost.join(" "), kept: rest(queue) };
  }

  it("drops the newest of the remoteHost with most in it, though its clients have few each, for a newcomer", () => {
    const crowd = ["a", "b", "c"].map((letter) => aClient(letter, "crowd"));
    const alone = aClient("z");
    const all = [...crowd.flatMap((each) => each.items(1)), ...alone.items(1, 2)];
    expect(offer(3, ...all)).toEqual({ lost: "c1 z2", kept: "a1 z1 b1" });
  });

  it("drops the newest of the client with most of that remoteHost's", () => {
    const [a, b, c] = [aClient("a", "crowd"), aClient("b", "crowd"), aClient("c", "crowd")];
    const all = [...a.items(1), ...b.items(1, 2, 3), ...c.items(1)];
    expect(offer(4, ...all)).toEqual({ lost: "b3", kept: "a1 b1 c1 b2" });
  });

  it("refuses a newcomer who has as much in it as anybody else", () => {
    const [a, b] = [aClient("a"), aClient("b")];
    const all = [a, b].flatMap((each) => each.items(1, 2)).concat(b.items(3), a.items(3));
    expect(offer(4, ...all)).toEqual({ lost: "b3 a3", kept: "a1 b1 a2 b2" });
  });
});
