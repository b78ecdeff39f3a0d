import { describe, expect, it } from "vitest";
import { createSlicedRecovery } from "../../src/txpool/slicedRecovery.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";

describe("recovery of senders in slices", () => {
  it("finds each sender, in order, and none for a signature that fits no key", async () => {
    const recover = createSlicedRecovery();
    const order: number[] = [];
    const senders = await Promise.all(
      [0, 1, 2].map(async (index) => {
        const sender = await recover(aTransaction({ privateKey: account(index).privateKey }));
        order.push(index);
        return sender;
      }),
    );
    expect(senders).toEqual([0, 1, 2].map((index) => account(index).address));
    expect(order).toEqual([0, 1, 2]);
    const unsigned = aTransaction({ changeSignature: (signature) => ({ ...signature, r: 5n }) });
    expect(await recover(unsigned)).toBeUndefined();
  });

  it("lets the event loop run between slices of a long queue", async () => {
    const recover = createSlicedRecovery();
    const transaction = aTransaction();
    await recover(transaction);
    let cycles = 0;
    let isOver = false;
    const count = (): void => {
      cycles++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(Array.from({ length: 1_000 }, () => recover(transaction)));
    isOver = true;
    // Some 40 ms of work.
    expect(cycles).toBeGreaterThan(3);
  });

  it("refuses what is too much to wait", async () => {
    const recover = createSlicedRecovery();
    const megabytes = (count: number) => aTransaction({ data: new Uint8Array(count * 1024 * 1024) });
    const [large, small] = [megabytes(31), megabytes(3)];
    const first = [recover(large), recover(large)];
    expect(await recover(small)).toBe("busy");
    expect(await Promise.all(first)).toEqual([large.sender, large.sender]);
    expect(await recover(small)).toEqual(small.sender);
  });
});
