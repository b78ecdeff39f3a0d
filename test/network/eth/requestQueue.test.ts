import { describe, expect, it } from "vitest";
import { MAX_WAITING_REQUESTS, STEPS_PER_SLICE } from "../../../src/network/eth/limits.ts";
import { RequestQueue } from "../../../src/network/eth/requestQueue.ts";
import type { Steps } from "../../../src/primitives/steps.ts";

/** A queue that notes what is done; with `isPaced` the work of peers waits until the test lets it go on. */
function aQueue({ isPaced = false } = {}) {
  const done: string[] = [];
  const held: (() => void)[] = [];
  const queue = new RequestQueue<string>((_, work) => {
    if (isPaced) held.push(work);
    else work();
  });
  return Object.assign(queue, {
    done,
    held,
    /** A request of so many slices. */
    *request(name: string, slices = 1): Steps<void> {
      for (let step = 1; step < slices * STEPS_PER_SLICE; step++) {
        if (step % STEPS_PER_SLICE === 1) done.push(name);
        yield;
      }
    },
  });
}

/** One slice is served in each loop. */
async function loops(count: number): Promise<void> {
  for (let loop = 0; loop < count; loop++) await new Promise((resolve) => setImmediate(resolve));
}

describe("the requests of peers", () => {
  it("take turns slice by slice, so that a long one holds up no other peer's", async () => {
    const queue = aQueue();
    queue.enqueue("a", queue.request("long", 4));
    queue.enqueue("a", queue.request("behind it"));
    queue.enqueue("b", queue.request("short"));
    queue.enqueue("c", queue.request("medium", 2));
    await loops(12);
    expect(queue.done).toEqual(["long", "short", "medium", "long", "medium", "long", "long", "behind it"]);
  });

  it("wait for the time of their peer, one slice of each peer at a time", async () => {
    const queue = aQueue({ isPaced: true });
    for (const peer of ["a", "b"])
      for (const name of ["1", "2"]) queue.enqueue(peer, queue.request(`${peer}${name}`));
    await loops(8);
    expect(queue.done).toEqual([]);
    expect(queue.held).toHaveLength(2);
    for (let round = 0; queue.held.length > 0 && round < 10; round++) {
      queue.held.shift()?.();
      await loops(4);
    }
    expect(queue.done).toEqual(["a1", "b1", "a2", "b2"]);
  });

  it("are bounded in number, the one in progress included", async () => {
    const queue = aQueue({ isPaced: true });
    for (let count = 0; count < MAX_WAITING_REQUESTS; count++)
      expect(queue.enqueue("a", queue.request("some"))).toBe(true);
    await loops(4);
    expect(queue.enqueue("a", queue.request("too many"))).toBe(false);
    expect(queue.enqueue("b", queue.request("another's"))).toBe(true);
    queue.held.shift()?.();
    expect(queue.enqueue("a", queue.request("one more"))).toBe(true);
  });

  it("are dropped when the peer is gone, also those that wait for its time", async () => {
    const queue = aQueue({ isPaced: true });
    queue.enqueue("a", queue.request("in progress", 3));
    queue.enqueue("a", queue.request("next"));
    await loops(2);
    queue.held.shift()?.();
    await loops(2);
    queue.forget("a");
    for (const work of queue.held) work();
    await loops(4);
    expect(queue.done).toEqual(["in progress"]);
  });
});
