import type { Address } from "../primitives/address.ts";

/** A message as it came, to be read when its height has come. */
export interface RawMessage {
  /** Who handed it to us: not the author, if it was relayed. */
  readonly sender: Address;
  readonly code: number;
  readonly payload: Uint8Array;
}

export interface FutureLimits {
  /** Messages in all; 0 keeps none. */
  readonly messages: number;
  /** How far above the height in progress a message may be. */
  readonly distance: number;
  /** Their payloads together. Ours: a thousand proposals could be as many megabytes. */
  readonly bytes: number;
}

/**
 * Messages of heights still to come (ibft2.md §10). When there are too many, all of the highest height go, or the oldest
 * if there is but one height: what is needed next stays longest. They are unread, so nothing of them is known to be true.
 */
export interface FutureMessages<M extends RawMessage> {
  readonly count: number;
  readonly bytes: number;
  /** Says whether the message is kept, where `current` is the height in progress. */
  add(message: M, height: bigint, current: bigint): "kept" | "tooFar" | "full";
  /** The messages of `height` in order of arrival; those and all below are kept no longer. */
  takeUpTo(height: bigint): readonly M[];
}

export function createFutureMessages<M extends RawMessage>(limits: FutureLimits): FutureMessages<M> {
  const byHeight = new Map<bigint, M[]>();
  let count = 0;
  let bytes = 0;

  function forget(messages: readonly RawMessage[]): void {
    count -= messages.length;
    for (const { payload } of messages) bytes -= payload.length;
  }

  function makeRoom(): void {
    let highest = 0n;
    for (const height of byHeight.keys()) if (height > highest) highest = height;
    const messages = byHeight.get(highest) ?? [];
    if (byHeight.size > 1) {
      byHeight.delete(highest);
      forget(messages);
    } else {
      forget(messages.splice(0, 1));
      if (messages.length === 0) byHeight.delete(highest);
    }
  }

  return {
    get count() {
      return count;
    },
    get bytes() {
      return bytes;
    },
    add(message, height, current) {
      if (height > current + BigInt(limits.distance)) return "tooFar";
      const messages = byHeight.get(height) ?? [];
      byHeight.set(height, messages);
      messages.push(message);
      count += 1;
      bytes += message.payload.length;
      while (count > limits.messages || bytes > limits.bytes) makeRoom();
      return byHeight.get(height) === messages && messages.at(-1) === message ? "kept" : "full";
    },
    takeUpTo(height) {
      const taken = byHeight.get(height) ?? [];
      for (const [known, messages] of byHeight) {
        if (known > height) continue;
        byHeight.delete(known);
        forget(messages);
      }
      return taken;
    },
  };
}
