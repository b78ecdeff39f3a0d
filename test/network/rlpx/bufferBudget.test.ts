import { describe, expect, it } from "vitest";
import { BufferBudget, type BufferShare } from "../../../src/network/rlpx/bufferBudget.ts";
import { SendQueue } from "../../../src/network/rlpx/sendQueue.ts";

const LIMITS = { queuedBytes: 1_000, untrustedUnreadBytes: 1_000 };

interface Link {
  readonly queue: SendQueue;
  readonly share: BufferShare;
  cut: string | undefined;
}

function join(
  budget: BufferBudget,
  facts: { isUntrusted?: boolean; sendingSinceMs?: number; readingSinceMs?: number } = {},
): Link {
  const share = budget.join({
    isUntrusted: facts.isUntrusted ?? false,
    sendingSinceMs: facts.sendingSinceMs,
    readingSinceMs: facts.readingSinceMs,
    get waitingBytes() {
      return link.queue.waitingBytes;
    },
    dropOrdinary: () => link.queue.dropOrdinary(),
    dropOldestConsensus: () => link.queue.dropOldestConsensus(),
    cut(detail) {
      link.cut = detail;
      link.queue.clear();
      share.leave();
    },
  });
  const link: Link = { queue: new SendQueue(share), share, cut: undefined };
  return link;
}

const message = (length: number, id = 0x10) => ({ id, bytes: new Uint8Array(length) });

describe("the buffer budget of all connections", () => {
  it("counts a message queued on several of them once, until the last has sent it", () => {
    const budget = new BufferBudget(LIMITS);
    const links = Array.from({ length: 25 }, () => join(budget));
    const block = message(900);
    for (const { queue } of links) expect(queue.push(block, "consensus")).toBe(true);
    expect(budget.queuedBytes).toBe(900);
    for (const { queue } of links) {
      expect(queue.shift()).toBe(block);
      expect(budget.queuedBytes).toBe(900);
      queue.shift();
    }
    expect(budget.queuedBytes).toBe(0);
  });

  it("drops the slowest untrusted readers, then ordinary messages, then the oldest consensus messages", () => {
    const budget = new BufferBudget(LIMITS);
    const slow = join(budget, { isUntrusted: true, sendingSinceMs: 1 });
    const quick = join(budget, { isUntrusted: true, sendingSinceMs: 2 });
    const quiet = join(budget, { isUntrusted: true });
    const [one, other] = [join(budget), join(budget)];
    const pushed = [
      slow.queue.push(message(300), "ordinary"),
      quick.queue.push(message(300), "ordinary"),
      one.queue.push(message(300), "ordinary"),
    ];
    expect([...pushed, budget.queuedBytes]).toEqual([true, true, true, 900]);
    expect(other.queue.push(message(400), "ordinary")).toBe(true);
    expect([slow.cut, quick.cut]).toEqual([
      "it reads too slowly, and the send budget is exhausted",
      undefined,
    ]);
    expect(other.queue.push(message(300), "consensus")).toBe(true);
    expect([quick.cut, quiet.cut, budget.queuedBytes]).toEqual([slow.cut, undefined, 1_000]);
    expect(one.queue.push(message(1), "ordinary")).toBe(false);
    expect(one.queue.push(message(500), "consensus")).toBe(true);
    expect([one.queue.waitingBytes.ordinary, other.queue.waitingBytes.ordinary]).toEqual([0, 0]);
    expect(other.queue.push(message(500, 0x11), "consensus")).toBe(true);
    expect(one.queue.waitingBytes).toEqual({ ordinary: 0, consensus: 0 });
    expect(other.queue.shift()).toMatchObject({ id: 0x10 });
    expect(other.queue.shift()).toMatchObject({ id: 0x11 });
    expect(budget.queuedBytes).toBeLessThanOrEqual(1_000);
  });

  it("disconnects the untrusted peer that takes longest over a message, and no validator", () => {
    const budget = new BufferBudget(LIMITS);
    const slow = join(budget, { isUntrusted: true, readingSinceMs: 1 });
    const quick = join(budget, { isUntrusted: true, readingSinceMs: 2 });
    const validator = join(budget, { readingSinceMs: 0 });
    slow.share.reportUnread(500);
    validator.share.reportUnread(2_000);
    quick.share.reportUnread(500);
    expect([slow.cut, quick.cut]).toEqual([undefined, undefined]);
    quick.share.reportUnread(501);
    expect([slow.cut, quick.cut, validator.cut]).toEqual([
      "its message takes too long, and the receive budget is exhausted",
      undefined,
      undefined,
    ]);
    quick.share.reportUnread(0);
    expect(budget.unreadBytes).toBe(2_000);
  });
});
