import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { RawMessage } from "./futureMessages.ts";

/**
 * The last wishes for a round that each sender brought, its own or relayed, in heights too far above ours for messages
 * to wait. A validator that comes back to a network that stands hears in which round the others are when it connects, and
 * only then; were that forgotten while it catches up, it would meet them again at the end of their round, which may be an
 * hour long.
 */
export interface DistantWords<M extends RawMessage> {
  note(message: M, height: bigint): void;
  /** Those of `height`; they and all below are kept no longer. */
  takeUpTo(height: bigint): readonly M[];
  /** Whoever may not speak any more takes its words along: their height may never come. */
  keepOnlyThoseOf(senders: readonly Address[]): void;
  readonly count: number;
}

export function createDistantWords<M extends RawMessage>(limits: {
  readonly messagesPerSender: number;
  readonly bytesPerSender: number;
  /** Of all together: whoever has most is forgotten first. */
  readonly bytes: number;
}): DistantWords<M> {
  type Word = { readonly message: M; readonly height: bigint };
  const bySender = new Map<string, readonly Word[]>();

  const totalBytes = (): number => [...bySender.values()].reduce((sum, words) => sum + bytesOf(words), 0);

  function forgetHeaviest(): void {
    let heaviest: readonly [key: string, bytes: number] | undefined;
    for (const [key, words] of bySender) {
      const bytes = bytesOf(words);
      if (heaviest === undefined || bytes > heaviest[1]) heaviest = [key, bytes];
    }
    if (heaviest !== undefined) bySender.delete(heaviest[0]);
  }

  return {
    note(message, height) {
      const key = toKey(message.sender);
      let words: readonly Word[] = [...(bySender.get(key) ?? []), { message, height }];
      while (
        words.length > limits.messagesPerSender ||
        (words.length > 1 && bytesOf(words) > limits.bytesPerSender)
      )
        words = words.slice(1);
      bySender.set(key, words);
      while (totalBytes() > limits.bytes) forgetHeaviest();
    },
    takeUpTo(height) {
      const taken: M[] = [];
      for (const [key, words] of bySender) {
        for (const word of words) if (word.height === height) taken.push(word.message);
        const left = words.filter((word) => word.height > height);
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
      return [...bySender.values()].reduce((sum, words) => sum + words.length, 0);
    },
  };
}

function bytesOf(words: readonly { readonly message: RawMessage }[]): number {
  return words.reduce((sum, { message }) => sum + message.payload.length, 0);
}
