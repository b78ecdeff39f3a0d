import { describe, expect, it } from "vitest";
import { EventFeed } from "../../../src/rpc/threads/callerSide/eventFeed.ts";
import { openInterests } from "../../../src/rpc/threads/interests.ts";
import { HeadNews } from "../../../src/rpc/threads/mainSide/headNews.ts";

/** Both sides of one thread, and a clock that the test turns. */
function aThread() {
  const interests = openInterests(1);
  let told = 0;
  let nowMs = 0;
  const notifications = { tell: () => void told++ };
  const news = new HeadNews(
    () => interests.of(0),
    notifications,
    () => nowMs,
  );
  return {
    feed: new EventFeed((kinds) => interests.change(0, kinds)),
    /** So many heads, one in a millisecond; returns of how many the thread was told. */
    heads(count: number): number {
      const before = told;
      for (let head = 0; head < count; head++) {
        nowMs++;
        news.headChanged();
      }
      return told - before;
    },
    wait(ms: number): void {
      nowMs += ms;
    },
  };
}

describe("news of the head for a thread", () => {
  it("are all of them while callers wait for heads there", () => {
    const { feed, heads } = aThread();
    heads(1);
    feed.awaitHeads(true);
    expect(heads(100)).toBe(100);
    feed.awaitHeads(false);
    expect(heads(100)).toBe(0);
  });

  it("are two a second where nobody waits", () => {
    const { heads, wait } = aThread();
    expect(heads(1)).toBe(1);
    expect(heads(499)).toBe(0);
    expect(heads(1)).toBe(1);
    expect(heads(10_000)).toBe(20);
    wait(1000);
    expect(heads(1)).toBe(1);
  });

  it("do not depend on what else callers wait for", () => {
    const { feed, heads } = aThread();
    feed.awaitHeads(true);
    const stop = feed.pool.onAdded(() => undefined);
    expect(heads(5)).toBe(5);
    stop();
    expect(heads(5)).toBe(5);
    feed.pool.onDropped(() => undefined);
    feed.awaitHeads(false);
    expect(heads(5)).toBe(0);
  });
});
