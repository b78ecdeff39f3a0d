import type { Address } from "../primitives/address.ts";
import { present } from "../primitives/assert.ts";
import { toKey } from "../primitives/hex.ts";

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
 * Messages of heights still to come (ibft2.md §10), unread, so nothing of them is known to be true. When there are too
 * many, whoever handed in most of them gives way: all that it sent of its highest height go, or its oldest if there is
 * but one height. So what is needed next stays longest, and nobody can push out what others sent.
 */
export interface FutureMessages<M extends RawMessage> {
  readonly count: number;
  readonly bytes: number;
  /** Says whether the message is kept, where `current` is the height in progress. */
  add(message: M, height: bigint, current: bigint): "kept" | "tooFar" | "full";
  /** The messages of `height` in order of arrival; those and all below are kept no longer. */
  takeUpTo(height: bigint): readonly M[];
}

interface Load {
  messages: number;
  bytes: number;
}

export function createFutureMessages<M extends RawMessage>(limits: FutureLimits): FutureMessages<M> {
  const byHeight = new Map<bigint, M[]>();
  const total: Load = { messages: 0, bytes: 0 };
  /** By sender. */
  const loads = new Map<string, Load>();

  function weigh({ sender, payload }: M, sign: 1 | -1): void {
    const key = toKey(sender);
    const load = loads.get(key) ?? { messages: 0, bytes: 0 };
    for (const one of [load, total]) {
      one.messages += sign;
      one.bytes += sign * payload.length;
    }
    if (load.messages > 0) loads.set(key, load);
    else loads.delete(key);
  }

  function isTooMuch(): boolean {
    return total.messages > limits.messages || total.bytes > limits.bytes;
  }

  /** Who has most of what there is too much of. */
  function heaviest(): string {
    const unit = total.bytes > limits.bytes ? "bytes" : "messages";
    let found: { readonly key: string; readonly load: Load } | undefined;
    for (const [key, load] of loads) {
      if (found === undefined || load[unit] > found.load[unit]) found = { key, load };
    }
    return present(found, "a sender of what is kept").key;
  }

  function makeRoom(): void {
    const key = heaviest();
    const isTheirs = ({ sender }: M): boolean => toKey(sender) === key;
    const heights = [...byHeight].filter(([, messages]) => messages.some(isTheirs)).map(([height]) => height);
    const highest = heights.reduce((most, height) => (height > most ? height : most), 0n);
    const messages = byHeight.get(highest) ?? [];
    const gone = heights.length > 1 ? messages.filter(isTheirs) : messages.filter(isTheirs).slice(0, 1);
    for (const message of gone) weigh(message, -1);
    const rest = messages.filter((message) => !gone.includes(message));
    if (rest.length > 0) byHeight.set(highest, rest);
    else byHeight.delete(highest);
  }

  return {
    get count() {
      return total.messages;
    },
    get bytes() {
      return total.bytes;
    },
    add(message, height, current) {
      if (height > current + BigInt(limits.distance)) return "tooFar";
      const messages = byHeight.get(height) ?? [];
      byHeight.set(height, messages);
      messages.push(message);
      weigh(message, 1);
      while (isTooMuch()) makeRoom();
      return byHeight.get(height)?.includes(message) === true ? "kept" : "full";
    },
    takeUpTo(height) {
      const taken = byHeight.get(height) ?? [];
      for (const [known, messages] of byHeight) {
        if (known > height) continue;
        byHeight.delete(known);
        for (const message of messages) weigh(message, -1);
      }
      return taken;
    },
  };
}
