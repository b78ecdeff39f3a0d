import { describe, expect, it } from "vitest";
import {
  type BufferBudget,
  type BufferShare,
  createBufferBudget,
} from "../../../src/network/rlpx/bufferBudget.ts";
import { createSendQueue, type SendQueue } from "../../../src/network/rlpx/sendQueue.ts";

const LIMITS = { queuedBytes: 1_000, untrustedUnreadBytes: 1_000 };

interface Link {
  readonly queue: SendQueue;
  readonly share: BufferShare;
  cut: string | undefined;
}

function join(
  memory: BufferBudget,
  facts: { isStranger?: boolean; sendingSinceMs?: number; readingSinceMs?: number } = {},
): Link {
  const share = memory.join({
    isUntrusted: facts.isStranger ?? false,
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
  const link: Link = { queue: createSendQueue(share), share, cut: undefined };
  return link;
}

const message = (length: number, id = 0x10) => ({ id, bytes: new Uint8Array(length) });

describe("the memory of all connections", () => {
  it("counts a message that several of them wait to send once, until the last has sent it", () => {
    const memory = createBufferBudget(LIMITS);
    const links = Array.from({ length: 25 }, () => join(memory));
    const block = message(900);
    for (const { queue } of links) expect(queue.push(block, "consensus")).toBe(true);
    expect(memory.queuedBytes).toBe(900);
    for (const { queue } of links) {
      expect(queue.shift()).toBe(block);
      expect(memory.queuedBytes).toBe(900);
      queue.shift();
    }
    expect(memory.queuedBytes).toBe(0);
  });

  it("gives up the strangers that read slowest, then what is no consensus, then its oldest", () => {
    const memory = createBufferBudget(LIMITS);
    const slow = join(memory, { isStranger: true, sendingSinceMs: 1 });
    const quick = join(memory, { isStranger: true, sendingSinceMs: 2 });
    const quiet = join(memory, { isStranger: true });
    const [one, other] = [join(memory), join(memory)];
    const pushed = [
      slow.queue.push(message(300), "ordinary"),
      quick.queue.push(message(300), "ordinary"),
      one.queue.push(message(300), "ordinary"),
    ];
    expect([...pushed, memory.queuedBytes]).toEqual([true, true, true, 900]);
    expect(other.queue.push(message(400), "ordinary")).toBe(true);
    expect([slow.cut, quick.cut]).toEqual([
      "it reads too slowly, and the send budget is exhausted",
      undefined,
    ]);
    expect(other.queue.push(message(300), "consensus")).toBe(true);
    expect([quick.cut, quiet.cut, memory.queuedBytes]).toEqual([slow.cut, undefined, 1_000]);
    expect(one.queue.push(message(1), "ordinary")).toBe(false);
    expect(one.queue.push(message(500), "consensus")).toBe(true);
    expect([one.queue.waitingBytes.ordinary, other.queue.waitingBytes.ordinary]).toEqual([0, 0]);
    expect(other.queue.push(message(500, 0x11), "consensus")).toBe(true);
    expect(one.queue.waitingBytes).toEqual({ ordinary: 0, consensus: 0 });
    expect(other.queue.shift()).toMatchObject({ id: 0x10 });
    expect(other.queue.shift()).toMatchObject({ id: 0x11 });
    expect(memory.queuedBytes).toBeLessThanOrEqual(1_000);
  });

  it("gives up the stranger that takes longest over a message, and no validator", () => {
    const memory = createBufferBudget(LIMITS);
    const slow = join(memory, { isStranger: true, readingSinceMs: 1 });
    const quick = join(memory, { isStranger: true, readingSinceMs: 2 });
    const validator = join(memory, { readingSinceMs: 0 });
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
    expect(memory.unreadBytes).toBe(2_000);
  });
});
