import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { RawMessage } from "./futureMessages.ts";

/**
 * Keeps the last RoundChanges from each sender, its own or relayed, of heights too far above ours for the buffer of future
 * messages. A validator that rejoins a stalled network learns the round of the others only on connecting. If these messages
 * were dropped while it catches up, it would join the others only at the end of their round, which may be an hour long.
 */
interface FarFutureRoundChanges<M extends RawMessage> {
  add(message: M, height: bigint): void;
  /** Removes and returns the messages of `height`; drops those of lower heights. */
  takeUpTo(height: bigint): readonly M[];
  /** Drops messages of all other senders: those of former validators may belong to a height that is never reached. */
  keepOnlyFrom(senders: readonly Address[]): void;
  readonly count: number;
}

export function createFarFutureRoundChanges<M extends RawMessage>(limits: {
  readonly messagesPerSender: number;
  readonly bytesPerSender: number;
  /** Limit for all senders together; the messages of the sender with most bytes are dropped first. */
  readonly bytes: number;
}): FarFutureRoundChanges<M> {
  type Waiting = { readonly message: M; readonly height: bigint };
  const bySender = new Map<string, readonly Waiting[]>();

  const totalBytes = (): number =>
    [...bySender.values()].reduce((sum, messages) => sum + bytesOf(messages), 0);

  function dropHeaviest(): void {
    let heaviest: readonly [key: string, bytes: number] | undefined;
    for (const [key, messages] of bySender) {
      const bytes = bytesOf(messages);
      if (heaviest === undefined || bytes > heaviest[1]) heaviest = [key, bytes];
    }
    if (heaviest !== undefined) bySender.delete(heaviest[0]);
  }

  return {
    add(message, height) {
      const key = toKey(message.sender);
      let messages: readonly Waiting[] = [...(bySender.get(key) ?? []), { message, height }];
      while (
        messages.length > limits.messagesPerSender ||
        (messages.length > 1 && bytesOf(messages) > limits.bytesPerSender)
      )
        messages = messages.slice(1);
      bySender.set(key, messages);
      while (totalBytes() > limits.bytes) dropHeaviest();
    },
    takeUpTo(height) {
      const taken: M[] = [];
      for (const [key, messages] of bySender) {
        for (const waiting of messages) if (waiting.height === height) taken.push(waiting.message);
        const left = messages.filter((waiting) => waiting.height > height);
        if (left.length > 0) bySender.set(key, left);
        else bySender.delete(key);
      }
      return taken;
    },
    keepOnlyFrom(senders) {
      if (bySender.size === 0) return;
      const keys = new Set(senders.map(toKey));
      for (const key of bySender.keys()) if (!keys.has(key)) bySender.delete(key);
    },
    get count() {
      return [...bySender.values()].reduce((sum, messages) => sum + messages.length, 0);
    },
  };
}

function bytesOf(messages: readonly { readonly message: RawMessage }[]): number {
  return messages.reduce((sum, { message }) => sum + message.payload.length, 0);
}
