import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import { createFanOut, EVENTS_WAITING, type Notification } from "../../../src/rpc/subscriptions/fanOut.ts";
import { createEventText } from "../../../src/rpc/subscriptions/notificationText.ts";
import type { Subscription } from "../../../src/rpc/subscriptions/subscriptionTable.ts";

/** Subscribers who write down what they hear, as "id: event". */
function subscribers(count: number) {
  const heard: string[] = [];
  const connection = {
    send: () => undefined,
    notify: (id: string, { json }: { readonly json: string }) =>
      void heard.push(`${id}: ${json.slice(0, 8)}`),
    isBehind: () => false,
    onClose: () => undefined,
    cut: () => undefined,
  };
  const list = Array.from(
    { length: count },
    (_, index): Subscription => ({ id: String(index), connection, parameters: { kind: "syncing" } }),
  );
  return { heard, list };
}

function* toAll(list: readonly Subscription[], json: string): Generator<Notification> {
  const event = createEventText(json);
  for (const subscription of list) yield { subscription, event };
}

const ALWAYS = { isLive: () => true, onTooMany: () => undefined, logger: silentLogger };

describe("telling subscribers", () => {
  it("happens at once when there are few", () => {
    const { heard, list } = subscribers(3);
    createFanOut(ALWAYS).publish(toAll(list, '"a"'));
    expect(heard).toEqual(['0: "a"', '1: "a"', '2: "a"']);
  });

  it("lets others have their turn when there are many, and keeps the order of events", async () => {
    const { heard, list } = subscribers(3_000);
    const fanOut = createFanOut(ALWAYS);
    fanOut.publish(toAll(list, `"first ${"x".repeat(5_000)}"`));
    fanOut.publish(toAll(list, '"second"'));
    expect(heard.length).toBeLessThan(1_000);
    let turns = 0;
    for (; heard.length < 6_000; turns++) await new Promise(setImmediate);
    expect(turns).toBeGreaterThan(10);
    expect(heard.indexOf('0: "second"')).toBe(3_000);
    expect(new Set(heard).size).toBe(6_000);
  });

  it("lets others have their turn when nearly nobody is to be told, too", async () => {
    const { heard, list } = subscribers(1);
    function* rare(): Generator<Notification | undefined> {
      for (let count = 0; count < 10_000; count++) yield undefined;
      yield* toAll(list, '"a"');
    }
    createFanOut(ALWAYS).publish(rare());
    expect(heard).toEqual([]);
    await expect.poll(() => heard).toEqual(['0: "a"']);
  });

  it("leaves out who has unsubscribed meanwhile", async () => {
    const { heard, list } = subscribers(2_000);
    let isOver = false;
    const fanOut = createFanOut({ ...ALWAYS, isLive: ({ id }) => !isOver || id === "1999" });
    fanOut.publish(toAll(list, `"a${"x".repeat(5_000)}"`));
    const before = heard.length;
    isOver = true;
    await expect.poll(() => heard.length).toBe(before + 1);
  });

  it("goes on with the next event when one is faulty", () => {
    const { heard, list } = subscribers(1);
    const fanOut = createFanOut(ALWAYS);
    fanOut.publish(
      (function* (): Generator<Notification> {
        yield* toAll(list, '"a"');
        throw new Error("a bug");
      })(),
    );
    fanOut.publish(toAll(list, '"b"'));
    expect(heard).toEqual(['0: "a"', '0: "b"']);
  });

  it("says so when more happens than can be told, and forgets what waits", async () => {
    const { heard, list } = subscribers(3_000);
    let complaints = 0;
    const fanOut = createFanOut({ ...ALWAYS, onTooMany: () => complaints++ });
    for (let count = 0; count <= EVENTS_WAITING; count++)
      fanOut.publish(toAll(list, `"${"x".repeat(1_000)}"`));
    expect(complaints).toBe(1);
    const before = heard.length;
    fanOut.publish(toAll(list.slice(0, 1), '"later"'));
    expect(heard.slice(before)).toEqual(['0: "later"']);
  });
});
