import { describe, expect, it } from "vitest";
import {
  createEventFeed,
  createEventSource,
  EVENT_CREDIT_BYTES,
  openInterests,
} from "../../../src/rpc/threads/eventFeed.ts";
import type { ToThread } from "../../../src/rpc/threads/protocol.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";

type Events = ToThread & { readonly kind: "poolEvents" | "syncing" };

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
    ({ bytes }) => source.credit(bytes),
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

  it("tell the sync status", async () => {
    const { source, feed, deliver } = twoSides();
    const told: unknown[] = [];
    feed.onSyncChanged((status) => told.push(status));
    const status = { startingBlock: 1n, currentBlock: 2n, highestBlock: 3n };
    source.syncing(status);
    source.syncing(undefined);
    await deliver();
    expect(told).toEqual([status, undefined]);
  });

  it("are lost beyond the credit of a thread that does not work on them, which it is told", async () => {
    const { source, feed, sent, losses, deliver } = twoSides();
    let added = 0;
    feed.pool.onAdded(() => added++);
    const large = aTransaction({ data: new Uint8Array(100_000) });
    const fitting = Math.floor(EVENT_CREDIT_BYTES / (large.raw.length + 64));
    for (let count = 0; count < 2 * fitting; count++) {
      source.added(large);
      if (count % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const bytes = sent.reduce((sum, one) => sum + (one.kind === "poolEvents" ? one.added.length : 0), 0);
    expect(bytes).toBeLessThanOrEqual(EVENT_CREDIT_BYTES);
    await deliver();
    expect(added).toBe(fitting);
    await deliver();
    const lost = losses();
    expect(lost).toBeGreaterThan(0);
    source.added(large);
    await deliver();
    expect(added).toBe(fitting + 1);
    expect(losses()).toBe(lost);
  });
});
