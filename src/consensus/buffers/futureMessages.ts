import type { Address } from "../../primitives/address.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { toKey } from "../../primitives/byteKey.ts";

/** An undecoded message. */
export interface RawMessage {
  /** The peer that sent it to us: not the author, if it was relayed. */
  readonly sender: Address;
  readonly code: number;
  readonly payload: Uint8Array;
}

export interface FutureLimits {
  /** Number of messages; 0 keeps none. */
  readonly messages: number;
  /** How far above the height in progress a message may be. */
  readonly distance: number;
  /** Total size of the payloads. Besu has no such bound: a thousand proposals could be as many megabytes. */
  readonly bytes: number;
}

/**
 * Buffers undecoded messages of future heights (ibft2.md#relay-and-buffers); nothing in them is verified. When there are
 * too many, the sender with most of them loses all messages of its highest height, or its oldest message if all are of one
 * height. So the messages needed next stay longest, and no sender can evict those of others. Since node keys are free,
 * one attacker can use many: preferred senders lose messages only when there are no others.
 */
export interface FutureMessages<M extends RawMessage> {
  readonly count: number;
  readonly bytes: number;
  /** Adds a message, if there is room for it; `current` is the height in progress. */
  add(message: M, height: bigint, current: bigint): "kept" | "tooFar" | "full";
  /** Removes and returns the messages of `height` in order of arrival; drops those of lower heights. */
  takeUpTo(height: bigint): readonly M[];
}

/** The buffered messages of one sender. */
interface Load<M> {
  isPreferred: boolean;
  messages: number;
  bytes: number;
  readonly byHeight: Map<bigint, Kept<M>[]>;
}

interface Kept<M> {
  readonly message: M;
  /** Order of arrival over all senders. */
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

  function uncount(key: string, load: Load<M>, removed: readonly Kept<M>[]): void {
    for (const { message } of removed) count(load, message, -1);
    if (load.messages === 0) loads.delete(key);
  }

  /** Evicts messages of the sender that uses most of the exceeded limit. */
  function makeRoom(): void {
    const unit = bytes > limits.bytes ? "bytes" : "messages";
    let heaviest: readonly [key: string, load: Load<M>] | undefined;
    for (const one of loads)
      if (heaviest === undefined || isEvictedBefore(one[1], heaviest[1], unit)) heaviest = one;
    const [key, load] = expectDefined(heaviest, "a sender with buffered messages");
    let highest = 0n;
    for (const height of load.byHeight.keys()) if (height > highest) highest = height;
    const kept = load.byHeight.get(highest) ?? [];
    const evicted = load.byHeight.size > 1 ? kept.splice(0) : kept.splice(0, 1);
    if (kept.length === 0) load.byHeight.delete(highest);
    uncount(key, load, evicted);
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
      const added: Kept<M> = { message, order: arrivals++ };
      kept.push(added);
      count(load, message, 1);
      while (messages > limits.messages || bytes > limits.bytes) makeRoom();
      return kept.at(-1) === added ? "kept" : "full";
    },
    takeUpTo(height) {
      const taken: Kept<M>[] = [];
      for (const [key, load] of loads) {
        taken.push(...(load.byHeight.get(height) ?? []));
        for (const [known, kept] of load.byHeight) {
          if (known > height) continue;
          load.byHeight.delete(known);
          uncount(key, load, kept);
        }
      }
      return taken.sort((a, b) => a.order - b.order).map(({ message }) => message);
    },
  };
}

function newLoad<M>(): Load<M> {
  return { isPreferred: false, messages: 0, bytes: 0, byHeight: new Map() };
}

function isEvictedBefore<M>(one: Load<M>, other: Load<M>, unit: "bytes" | "messages"): boolean {
  return one.isPreferred === other.isPreferred ? one[unit] > other[unit] : other.isPreferred;
}
