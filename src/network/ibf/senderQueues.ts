import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { IBF_BURST, IBF_QUEUE_BYTES, IBF_QUEUE_MESSAGES } from "../limits.ts";

export interface ReceivedMessage {
  /** The peer that sent it; messages are relayed, so it need not be the author. */
  readonly sender: Address;
  readonly code: number;
  readonly payload: Uint8Array;
}

interface SenderQueue {
  readonly messages: ReceivedMessage[];
  bytes: number;
}

/**
 * Received messages, in one bounded queue per sender:
 *
 *     senders ──> queues ── round robin, a burst per event-loop slice ──> deliver
 *
 * Invariants: one sender can neither fill the memory nor delay another's messages by more than one round of the queues;
 * messages beyond a sender's bounds are dropped and counted, and its oldest are kept.
 */
export class SenderQueues {
  readonly #deliver: (message: ReceivedMessage) => void;
  /** Queues with waiting messages, in round-robin order. */
  readonly #queues = new Map<string, SenderQueue>();
  #isScheduled = false;
  #droppedCount = 0;

  constructor(deliver: (message: ReceivedMessage) => void) {
    this.#deliver = deliver;
  }

  enqueue(sender: Address, code: number, payload: Uint8Array): void {
    const key = toKey(sender);
    const queue = this.#queues.get(key) ?? { messages: [], bytes: 0 };
    if (isFull(queue, payload.length)) {
      this.#droppedCount++;
      return;
    }
    queue.messages.push({ sender, code, payload });
    queue.bytes += payload.length;
    this.#queues.set(key, queue);
    this.#schedule();
  }

  /** Messages dropped because their sender's queue was full. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  #deliverBurst(): void {
    this.#isScheduled = false;
    for (let count = 0; count < IBF_BURST; count++) {
      const [next] = this.#queues;
      if (next === undefined) return;
      const [key, queue] = next;
      const message = queue.messages.shift();
      this.#queues.delete(key);
      if (message === undefined) continue;
      queue.bytes -= message.payload.length;
      // The sender goes to the back of the round robin.
      if (queue.messages.length > 0) this.#queues.set(key, queue);
      this.#deliver(message);
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#queues.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => this.#deliverBurst());
  }
}

function isFull({ messages, bytes }: SenderQueue, addedBytes: number): boolean {
  if (messages.length >= IBF_QUEUE_MESSAGES) return true;
  return messages.length > 0 && bytes + addedBytes > IBF_QUEUE_BYTES;
}
