import type { Address } from "../../primitives/address.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { toKey } from "../../primitives/byteKey.ts";

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
 * Messages of heights still to come (ibft2.md#relay-and-buffers), unread, so nothing of them is known to be
 * true. When there are too many, whoever handed in most of them gives way: all that it sent of its highest
 * height go, or its oldest if there is but one height. So what is needed next stays longest, and nobody can
 * push out what others sent. As keys cost nothing, many can be one: those who are preferred give way only
 * when there is nobody else.
 */
export interface FutureMessages<M extends RawMessage> {
  readonly count: number;
  readonly bytes: number;
  /** Says whether the message is kept, where `current` is the height in progress. */
  add(message: M, height: bigint, current: bigint): "kept" | "tooFar" | "full";
  /** The messages of `height` in order of arrival; those and all below are kept no longer. */
  takeUpTo(height: bigint): readonly M[];
}

/** What one sender has waiting. */
interface Load<M> {
  isPreferred: boolean;
  messages: number;
  bytes: number;
  readonly byHeight: Map<bigint, Kept<M>[]>;
}

interface Kept<M> {
  readonly message: M;
  /** Of arrival, over all senders. */
  readonly order: number;
}

export function createFutureMessages<M extends RawMessage>(
  limits: FutureLimits,
  isPreferred: (sender: Address) => boolean = () => false,
): FutureMessages<M> {
  const loads = new Map<string, Load<M>>();
  let messages = 0;
  let bytes = 0;
  let arrivals = 0;

  function count(load: Load<M>, { payload }: M, sign: 1 | -1): void {
    load.messages += sign;
    load.bytes += sign * payload.length;
    messages += sign;
    bytes += sign * payload.length;
  }

  function drop(key: string, load: Load<M>, gone: readonly Kept<M>[]): void {
    for (const { message } of gone) count(load, message, -1);
    if (load.messages === 0) loads.delete(key);
  }

  /** Who has most of what there is too much of gives way. */
  function makeRoom(): void {
    const unit = bytes > limits.bytes ? "bytes" : "messages";
    let heaviest: readonly [key: string, load: Load<M>] | undefined;
    for (const one of loads)
      if (heaviest === undefined || yieldsBefore(one[1], heaviest[1], unit)) heaviest = one;
    const [key, load] = expectDefined(heaviest, "a sender of what is kept");
    let highest = 0n;
    for (const height of load.byHeight.keys()) if (height > highest) highest = height;
    const kept = load.byHeight.get(highest) ?? [];
    const gone = load.byHeight.size > 1 ? kept.splice(0) : kept.splice(0, 1);
    if (kept.length === 0) load.byHeight.delete(highest);
    drop(key, load, gone);
  }

  return {
    get count() {
      return messages;
    },
    get bytes() {
      return bytes;
    },
    add(message, height, current) {
      if (height > current + BigInt(limits.distance)) return "tooFar";
      const key = toKey(message.sender);
      const load = loads.get(key) ?? newLoad();
      load.isPreferred = isPreferred(message.sender);
      loads.set(key, load);
      const kept = load.byHeight.get(height) ?? [];
      load.byHeight.set(height, kept);
      const own: Kept<M> = { message, order: arrivals++ };
      kept.push(own);
      count(load, message, 1);
      while (messages > limits.messages || bytes > limits.bytes) makeRoom();
      return kept.at(-1) === own ? "kept" : "full";
    },
    takeUpTo(height) {
      const taken: Kept<M>[] = [];
      for (const [key, load] of loads) {
        taken.push(...(load.byHeight.get(height) ?? []));
        for (const [known, kept] of load.byHeight) {
          if (known > height) continue;
          load.byHeight.delete(known);
          drop(key, load, kept);
        }
      }
      return taken.sort((a, b) => a.order - b.order).map(({ message }) => message);
    },
  };
}

function newLoad<M>(): Load<M> {
  return { isPreferred: false, messages: 0, bytes: 0, byHeight: new Map() };
}

function yieldsBefore<M>(one: Load<M>, other: Load<M>, unit: "bytes" | "messages"): boolean {
  return one.isPreferred === other.isPreferred ? one[unit] > other[unit] : other.isPreferred;
}
