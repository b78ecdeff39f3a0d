import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { RawMessage } from "./futureMessages.ts";

interface Waiting<M> {
  readonly message: M;
  readonly height: bigint;
}

interface FarFutureLimits {
  readonly messagesPerSender: number;
  readonly bytesPerSender: number;
  /** Limit for all senders together; the messages of the sender with most bytes are dropped first. */
  readonly bytes: number;
}

/**
 * Keeps the last RoundChanges from each sender, its own or relayed, of heights too far above ours for the buffer of future
 * messages. A validator that rejoins a stalled network learns the round of the others only on connecting. If these messages
 * were dropped while it catches up, it would join the others only at the end of their round, which may be an hour long.
 */
export class FarFutureRoundChanges<M extends RawMessage> {
  private readonly limits: FarFutureLimits;
  private readonly bySender = new Map<string, readonly Waiting<M>[]>();

  constructor(limits: FarFutureLimits) {
    this.limits = limits;
  }

  add(message: M, height: bigint): void {
    const key = toKey(message.sender);
    let messages: readonly Waiting<M>[] = [...(this.bySender.get(key) ?? []), { message, height }];
    while (
      messages.length > this.limits.messagesPerSender ||
      (messages.length > 1 && bytesOf(messages) > this.limits.bytesPerSender)
    )
      messages = messages.slice(1);
    this.bySender.set(key, messages);
    while (this.totalBytes() > this.limits.bytes) this.dropHeaviest();
  }

  /** Removes and returns the messages of `height`; drops those of lower heights. */
  takeUpTo(height: bigint): readonly M[] {
    const taken: M[] = [];
    for (const [key, messages] of this.bySender) {
      for (const waiting of messages) if (waiting.height === height) taken.push(waiting.message);
      const left = messages.filter((waiting) => waiting.height > height);
      if (left.length > 0) this.bySender.set(key, left);
      else this.bySender.delete(key);
    }
    return taken;
  }

  /** Drops messages of all other senders: those of former validators may belong to a height that is never reached. */
  keepOnlyFrom(senders: readonly Address[]): void {
    if (this.bySender.size === 0) return;
    const keys = new Set(senders.map(toKey));
    for (const key of this.bySender.keys()) if (!keys.has(key)) this.bySender.delete(key);
  }

  get count(): number {
    return [...this.bySender.values()].reduce((sum, messages) => sum + messages.length, 0);
  }

  private totalBytes(): number {
    return [...this.bySender.values()].reduce((sum, messages) => sum + bytesOf(messages), 0);
  }

  private dropHeaviest(): void {
    let heaviest: readonly [key: string, bytes: number] | undefined;
    for (const [key, messages] of this.bySender) {
      const bytes = bytesOf(messages);
      if (heaviest === undefined || bytes > heaviest[1]) heaviest = [key, bytes];
    }
    if (heaviest !== undefined) this.bySender.delete(heaviest[0]);
  }
}

function bytesOf(messages: readonly { readonly message: RawMessage }[]): number {
  return messages.reduce((sum, { message }) => sum + message.payload.length, 0);
}
