import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { RawMessage } from "./futureMessages.ts";

/**
 * The last wishes for a round that each sender brought, its own or relayed, in heights too far above ours for messages
 * to wait. A validator that comes back to a network that stands hears in which round the others are when it connects, and
 * only then; were that forgotten while it catches up, it would meet them again at the end of their round, which may be an
 * hour long.
 */
export interface FarFutureRoundChanges<M extends RawMessage> {
  note(message: M, height: bigint): void;
  /** Those of `height`; they and all below are kept no longer. */
  takeUpTo(height: bigint): readonly M[];
  /** Whoever may not speak any more takes its words along: their height may never come. */
  keepOnlyThoseOf(senders: readonly Address[]): void;
  readonly count: number;
}

export function createFarFutureRoundChanges<M extends RawMessage>(limits: {
  readonly messagesPerSender: number;
  readonly bytesPerSender: number;
  /** Of all together: whoever has most is forgotten first. */
  readonly bytes: number;
}): FarFutureRoundChanges<M> {
  type Waiting = { readonly message: M; readonly height: bigint };
  const bySender = new Map<string, readonly Waiting[]>();

  const totalBytes = (): number =>
    [...bySender.values()].reduce((sum, messages) => sum + bytesOf(messages), 0);

  function forgetHeaviest(): void {
    let heaviest: readonly [key: string, bytes: number] | undefined;
    for (const [key, messages] of bySender) {
      const bytes = bytesOf(messages);
      if (heaviest === undefined || bytes > heaviest[1]) heaviest = [key, bytes];
    }
    if (heaviest !== undefined) bySender.delete(heaviest[0]);
  }

  return {
    note(message, height) {
      const key = toKey(message.sender);
      let messages: readonly Waiting[] = [...(bySender.get(key) ?? []), { message, height }];
      while (
        messages.length > limits.messagesPerSender ||
        (messages.length > 1 && bytesOf(messages) > limits.bytesPerSender)
      )
        messages = messages.slice(1);
      bySender.set(key, messages);
      while (totalBytes() > limits.bytes) forgetHeaviest();
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
    keepOnlyThoseOf(senders) {
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
