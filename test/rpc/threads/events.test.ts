import { describe, expect, it } from "vitest";
import { EventFeed } from "../../../src/rpc/threads/callerSide/eventFeed.ts";
import { openInterests } from "../../../src/rpc/threads/interests.ts";
import { EventSource } from "../../../src/rpc/threads/mainSide/eventSource.ts";
import { MESSAGES, type PoolEvents, type ToThread } from "../../../src/rpc/threads/messages.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import type { Handlers } from "../../../src/workers/channel/channel.ts";
import { aChannel, handlersOf, postedOf } from "../../builders/aChannel.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { type HandTimeouts, takeTimeouts } from "../../builders/handTimeouts.ts";

const { messages: EVENT_CREDIT, bytes: EVENT_CREDIT_BYTES } = MESSAGES.poolEvents.most;

/** Both sides; what the main thread sends reaches the thread when the test says so. */
function twoSides() {
  const timeouts = takeTimeouts();
  const interests = openInterests(2);
  const { thread, main, toThread } = aChannel();
  const source = new EventSource(() => interests.of(1), main);
  let losses = 0;
  const feed = new EventFeed((kinds) => interests.change(1, kinds));
  feed.onLost(() => losses++);
  const handlers = handlersOf<Handlers<ToThread>>({ poolEvents: (events) => feed.receive(events) });
  const contents = () => toThread.map(({ content }) => content as PoolEvents);
  return {
    source,
    main,
    feed,
    timeouts,
    sent: toThread,
    contents,
    losses: () => losses,
    /** Hands over what was sent up to now and in this event-loop cycle. */
    async deliver(): Promise<void> {
      await new Promise((resolve) => setImmediate(resolve));
      thread.receive(postedOf(toThread.splice(0)), handlers);
    },
  };
}

/** Lets the main thread see that there is room again. */
const lookForRoom = (timeouts: HandTimeouts): Promise<void> => timeouts.advanceBy(10);

describe("events for a thread's subscribers", () => {
  it("are sent while the thread has listeners, those of one cycle as one message", async () => {
    const { source, feed, sent, deliver } = twoSides();
    const transactions = [0n, 1n, 2n].map((nonce) => aTransaction({ nonce }));
    const [first, ...others] = transactions as [SentTransaction, ...SentTransaction[]];
    source.onAdded(first);
    const added: unknown[] = [];
    const dropped: unknown[] = [];
    const stop = feed.pool.onAdded(({ transaction }) => added.push(transaction));
    for (const transaction of others) source.onAdded(transaction);
    source.onDropped(first);
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent.length).toBe(1);
    await deliver();
    expect(added).toEqual(others);
    feed.pool.onDropped(({ transaction }) => dropped.push(transaction.hash));
    stop();
    source.onAdded(first);
    source.onDropped(first);
    await deliver();
    expect(added.length).toBe(2);
    expect(dropped).toEqual([first.hash]);
  });

  it("are lost beyond the credit of a thread that does not work on them, which it is told", async () => {
    const { source, feed, timeouts, contents, losses, deliver } = twoSides();
    let added = 0;
    feed.pool.onAdded(() => added++);
    const large = aTransaction({ data: new Uint8Array(100_000) });
    for (let count = 0; count < 400; count++) {
      source.onAdded(large);
      if (count % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const bytes = contents().reduce((sum, one) => sum + one.added.length, 0);
    expect(bytes).toBeLessThanOrEqual(EVENT_CREDIT_BYTES);
    expect(bytes).toBeGreaterThan(EVENT_CREDIT_BYTES - 2 * 100_000);
    await deliver();
    const before = added;
    expect(before * large.raw.length).toBeLessThanOrEqual(EVENT_CREDIT_BYTES);
    await lookForRoom(timeouts);
    await deliver();
    const lost = losses();
    expect(lost).toBeGreaterThan(0);
    source.onAdded(large);
    await deliver();
    expect(added).toBe(before + 1);
    expect(losses()).toBe(lost);
  });

  it("are lost beyond the credit in number, also where each is a message of its own", async () => {
    const { source, feed, timeouts, sent, losses, deliver } = twoSides();
    feed.pool.onDropped(() => undefined);
    const dropped = aTransaction();
    for (let count = 0; count < EVENT_CREDIT + 1000; count++) source.onDropped(dropped);
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent.map(({ messages }) => messages)).toEqual([EVENT_CREDIT]);
    await deliver();
    await lookForRoom(timeouts);
    await deliver();
    expect(losses()).toBe(1);
    for (let count = 0; count < EVENT_CREDIT_BYTES / 1000; count++) {
      source.onDropped(dropped);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // A message takes more than its event.
    expect(sent.length).toBeLessThanOrEqual(EVENT_CREDIT_BYTES / 1024);
    expect(sent.length).toBeGreaterThan(EVENT_CREDIT_BYTES / 1200);
  });

  it("of a thread that ended do not come to the one that takes its place", async () => {
    const { source, main, feed, sent, deliver } = twoSides();
    feed.pool.onDropped(() => undefined);
    source.onDropped(aTransaction());
    main.drop();
    await deliver();
    expect(sent).toEqual([]);
  });
});
