import { describe, expect, it } from "vitest";
import {
  createEventFeed,
  createEventSource,
  EVENT_CREDIT,
  EVENT_CREDIT_BYTES,
  openInterests,
} from "../../../src/rpc/threads/callerSide/eventFeed.ts";
import type { ToThread } from "../../../src/rpc/threads/protocol.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";

type Events = ToThread & { readonly kind: "poolEvents" };

/** Both sides; what the main thread sends reaches the thread when the test says so. */
function twoSides() {
  const interests = openInterests(2);
  const sent: Events[] = [];
  const source = createEventSource(
    () => interests.of(1),
    (message) => sent.push(message),
  );
  let losses = 0;
  const feed = createEventFeed(
    (kinds) => interests.change(1, kinds),
    (credit) => source.credit(credit),
    () => losses++,
  );
  return {
    source,
    feed,
    sent,
    losses: () => losses,
    /** Hands over what was sent up to now and in this event-loop cycle. */
    async deliver(): Promise<void> {
      await new Promise((resolve) => setImmediate(resolve));
      for (const message of sent.splice(0)) feed.receive(message);
    },
  };
}

describe("events for a thread's subscribers", () => {
  it("are sent while the thread has listeners, those of one cycle as one message", async () => {
    const { source, feed, sent, deliver } = twoSides();
    const transactions = [0n, 1n, 2n].map((nonce) => aTransaction({ nonce }));
    const [first, ...others] = transactions as [SentTransaction, ...SentTransaction[]];
    source.added(first);
    const added: unknown[] = [];
    const dropped: unknown[] = [];
    const stop = feed.pool.onAdded(({ transaction }) => added.push(transaction));
    for (const transaction of others) source.added(transaction);
    source.dropped(first);
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent.length).toBe(1);
    await deliver();
    expect(added).toEqual(others);
    feed.pool.onDropped(({ transaction }) => dropped.push(transaction.hash));
    stop();
    source.added(first);
    source.dropped(first);
    await deliver();
    expect(added.length).toBe(2);
    expect(dropped).toEqual([first.hash]);
  });

  it("are lost beyond the credit of a thread that does not work on them, which it is told", async () => {
    const { source, feed, sent, losses, deliver } = twoSides();
    let added = 0;
    feed.pool.onAdded(() => added++);
    const large = aTransaction({ data: new Uint8Array(100_000) });
    for (let count = 0; count < 400; count++) {
      source.added(large);
      if (count % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const bytes = sent.reduce((sum, one) => sum + one.added.length, 0);
    expect(bytes).toBeLessThanOrEqual(EVENT_CREDIT_BYTES);
    expect(bytes).toBeGreaterThan(EVENT_CREDIT_BYTES - 2 * 100_000);
    await deliver();
    const before = added;
    expect(before * large.raw.length).toBeLessThanOrEqual(EVENT_CREDIT_BYTES);
    await deliver();
    const lost = losses();
    expect(lost).toBeGreaterThan(0);
    source.added(large);
    await deliver();
    expect(added).toBe(before + 1);
    expect(losses()).toBe(lost);
  });

  it("are lost beyond the credit in number, also where each is a message of its own", async () => {
    const { source, feed, sent, losses, deliver } = twoSides();
    feed.pool.onDropped(() => undefined);
    const dropped = aTransaction();
    for (let count = 0; count < EVENT_CREDIT + 1000; count++) source.dropped(dropped);
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent.map(({ events }) => events)).toEqual([EVENT_CREDIT]);
    await deliver();
    await deliver();
    expect(losses()).toBe(1);
    for (let count = 0; count < EVENT_CREDIT_BYTES / 1000; count++) {
      source.dropped(dropped);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // A message takes more than its event.
    expect(sent.length).toBeLessThanOrEqual(EVENT_CREDIT_BYTES / 1024);
    expect(sent.length).toBeGreaterThan(EVENT_CREDIT_BYTES / 1200);
  });

  it("of a thread that ended do not come to the one that takes its place", async () => {
    const { source, feed, sent, deliver } = twoSides();
    feed.pool.onDropped(() => undefined);
    source.dropped(aTransaction());
    source.drop();
    await deliver();
    expect(sent).toEqual([]);
  });
});
