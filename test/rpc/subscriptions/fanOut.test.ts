import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import { EVENTS_WAITING, FanOut, type Notification } from "../../../src/rpc/subscriptions/fanOut.ts";
import { EventText } from "../../../src/rpc/subscriptions/notificationText.ts";
import type { Subscription } from "../../../src/rpc/subscriptions/subscriptionTable.ts";

/** Subscribers that record their notifications as "id: event". */
function subscribers(count: number) {
  const received: string[] = [];
  const connection = {
    send: () => undefined,
    notify: (id: string, { json }: { readonly json: string }) =>
      void received.push(`${id}: ${json.slice(0, 8)}`),
    isBehind: () => false,
    subscribed: () => undefined,
    onClose: () => undefined,
    cut: () => undefined,
    close: () => undefined,
  };
  const list = Array.from(
    { length: count },
    (_, index): Subscription => ({
      id: String(index),
      connection,
      remoteHost: "192.0.2.1",
      parameters: { kind: "syncing" },
    }),
  );
  return { received, list };
}

function* toAll(list: readonly Subscription[], json: string): Generator<Notification> {
  const event = new EventText(json);
  for (const subscription of list) yield { subscription, event };
}

const ALWAYS = { isLive: () => true, onTooMany: () => undefined, logger: silentLogger };

describe("notifying subscribers", () => {
  it("happens at once when there are few", () => {
    const { received, list } = subscribers(3);
    new FanOut(ALWAYS).publish(toAll(list, '"a"'));
    expect(received).toEqual(['0: "a"', '1: "a"', '2: "a"']);
  });

  it("yields to the event loop when there are many, and keeps the order of events", async () => {
    const { received, list } = subscribers(3_000);
    const fanOut = new FanOut(ALWAYS);
    fanOut.publish(toAll(list, `"first ${"x".repeat(5_000)}"`));
    fanOut.publish(toAll(list, '"second"'));
    expect(received.length).toBeLessThan(1_000);
    let slices = 0;
    for (; received.length < 6_000; slices++) await new Promise(setImmediate);
    expect(slices).toBeGreaterThan(10);
    expect(received.indexOf('0: "second"')).toBe(3_000);
    expect(new Set(received).size).toBe(6_000);
  });

  it("also yields to the event loop when there is much work for few notifications", async () => {
    const { received, list } = subscribers(1);
    function* rare(): Generator<Notification | undefined> {
      for (let count = 0; count < 10_000; count++) yield undefined;
      yield* toAll(list, '"a"');
    }
    new FanOut(ALWAYS).publish(rare());
    expect(received).toEqual([]);
    await expect.poll(() => received).toEqual(['0: "a"']);
  });

  it("skips subscriptions that ended in the meantime", async () => {
    const { received, list } = subscribers(2_000);
    let isOver = false;
    const fanOut = new FanOut({ ...ALWAYS, isLive: ({ id }) => !isOver || id === "1999" });
    fanOut.publish(toAll(list, `"a${"x".repeat(5_000)}"`));
    const before = received.length;
    isOver = true;
    await expect.poll(() => received.length).toBe(before + 1);
  });

  it("goes on with the next event when one throws", () => {
    const { received, list } = subscribers(1);
    const fanOut = new FanOut(ALWAYS);
    fanOut.publish(
      (function* (): Generator<Notification> {
        yield* toAll(list, '"a"');
        throw new Error("a bug");
      })(),
    );
    fanOut.publish(toAll(list, '"b"'));
    expect(received).toEqual(['0: "a"', '0: "b"']);
  });

  it("reports too many waiting events, and drops them", async () => {
    const { received, list } = subscribers(3_000);
    let overflows = 0;
    const fanOut = new FanOut({ ...ALWAYS, onTooMany: () => overflows++ });
    for (let count = 0; count <= EVENTS_WAITING; count++)
      fanOut.publish(toAll(list, `"${"x".repeat(1_000)}"`));
    expect(overflows).toBe(1);
    const before = received.length;
    fanOut.publish(toAll(list.slice(0, 1), '"later"'));
    expect(received.slice(before)).toEqual(['0: "later"']);
  });
});
