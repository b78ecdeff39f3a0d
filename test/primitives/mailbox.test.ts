import { describe, expect, it } from "vitest";
import { Mailbox } from "../../src/primitives/mailbox.ts";

/** Lets everything that is ready run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function failTest(error: unknown): never {
  throw error;
}

describe("the mailbox", () => {
  it("reads one item after another, in order, even when reading is slow", async () => {
    const events: string[] = [];
    const box = new Mailbox<number>(
      10,
      async (item) => {
        events.push(`begin ${item}`);
        await settle();
        events.push(`end ${item}`);
      },
      failTest,
    );
    for (const item of [1, 2, 3]) expect(box.post(item)).toBe(true);
    expect(events).toEqual([]);
    for (let round = 0; round < 10; round++) await settle();
    expect(events).toEqual(["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]);
  });

  it("refuses items when full, and accepts more once some are read", async () => {
    const read: number[] = [];
    const box = new Mailbox<number>(2, (item) => void read.push(item), failTest);
    expect([1, 2, 3].map((item) => box.post(item))).toEqual([true, true, false]);
    expect(box.size).toBe(2);
    await settle();
    expect(box.post(4)).toBe(true);
    await settle();
    expect(read).toEqual([1, 2, 4]);
  });

  it("closes when reading fails, and reports the error", async () => {
    const failures: unknown[] = [];
    const read: number[] = [];
    const broken = new Error("broken");
    const box = new Mailbox<number>(
      10,
      (item) => {
        read.push(item);
        if (item === 2) throw broken;
      },
      (error) => failures.push(error),
    );
    for (const item of [1, 2, 3]) box.post(item);
    await settle();
    expect(read).toEqual([1, 2]);
    expect(failures).toEqual([broken]);
    expect(box.post(4)).toBe(false);
  });

  it("finishes the current item when closed, and reads no other", async () => {
    const finished: number[] = [];
    const box = new Mailbox<number>(
      10,
      async (item) => {
        await settle();
        finished.push(item);
      },
      failTest,
    );
    for (const item of [1, 2]) box.post(item);
    await Promise.resolve();
    await box.close();
    expect(finished).toEqual([1]);
    expect(box.post(3)).toBe(false);
    await settle();
    expect(finished).toEqual([1]);
  });
});
