import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { IBF_BURST, IBF_QUEUE_BYTES, IBF_QUEUE_MESSAGES } from "../limits.ts";

export interface ReceivedMessage {
  /** The peer that sent it; messages are relayed, so it need not be the author. */
  readonly sender: Address;
  readonly code: number;
  readonly payload: Uint8Array;
}

/**
 * Received messages, in one bounded queue per sender:
 *
 *     senders ──> queues ── round robin, a burst per event-loop slice ──> deliver
 *
 * Invariants: one sender can neither fill the memory nor delay another's messages by more than one round of the queues;
 * messages beyond a sender's bounds are dropped and counted, its oldest are kept.
 */
export interface SenderQueues {
  enqueue(sender: Address, code: number, payload: Uint8Array): void;
  /** Messages dropped because their sender's queue was full. */
  readonly droppedCount: number;
}

interface SenderQueue {
  readonly messages: ReceivedMessage[];
  bytes: number;
}

export function createSenderQueues(deliver: (message: ReceivedMessage) => void): SenderQueues {
  /** Queues with waiting messages, in round-robin order. */
  const queues = new Map<string, SenderQueue>();
  let isScheduled = false;
  let droppedCount = 0;

  function deliverBurst(): void {
    isScheduled = false;
    for (let count = 0; count < IBF_BURST; count++) {
      const [next] = queues;
      if (next === undefined) return;
      const [key, queue] = next;
      const message = queue.messages.shift();
      queues.delete(key);
      if (message === undefined) continue;
      queue.bytes -= message.payload.length;
      // The sender goes to the back of the round robin.
      if (queue.messages.length > 0) queues.set(key, queue);
      deliver(message);
    }
    schedule();
  }

  function schedule(): void {
    if (isScheduled || queues.size === 0) return;
    isScheduled = true;
    setImmediate(deliverBurst);
  }

  return {
    enqueue(sender, code, payload) {
      const key = toKey(sender);
      const queue = queues.get(key) ?? { messages: [], bytes: 0 };
      if (isFull(queue, payload.length)) {
        droppedCount++;
        return;
      }
      queue.messages.push({ sender, code, payload });
      queue.bytes += payload.length;
      queues.set(key, queue);
      schedule();
    },
    get droppedCount() {
      return droppedCount;
    },
  };
}

function isFull({ messages, bytes }: SenderQueue, addedBytes: number): boolean {
  if (messages.length >= IBF_QUEUE_MESSAGES) return true;
  return messages.length > 0 && bytes + addedBytes > IBF_QUEUE_BYTES;
}
