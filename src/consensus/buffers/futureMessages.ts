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

/**
 * Buffers undecoded messages of future heights (ibft2.md#relay-and-buffers); nothing in them is verified. When there are
 * too many, the sender with most of them loses all messages of its highest height, or its oldest message if all are of one
 * height. So the messages needed next stay longest, and no sender can evict those of others. Since node keys are free,
 * one attacker can use many: preferred senders lose messages only when there are no others.
 */
export class FutureMessages<M extends RawMessage> {
  private totalMessages = 0;
  private totalBytes = 0;
  private readonly limits: FutureLimits;
  private readonly isPreferred: (sender: Address) => boolean;
  private readonly loads = new Map<string, Load<M>>();
  private arrivals = 0;

  constructor(limits: FutureLimits, isPreferred: (sender: Address) => boolean = () => false) {
    this.limits = limits;
    this.isPreferred = isPreferred;
  }

  get count(): number {
    return this.totalMessages;
  }

  get bytes(): number {
    return this.totalBytes;
  }

  /** Adds a message, if there is room for it; `current` is the height in progress. */
  add(message: M, height: bigint, current: bigint): "buffered" | "tooFarAhead" | "bufferFull" {
    if (height > current + BigInt(this.limits.distance)) return "tooFarAhead";
    const key = toKey(message.sender);
    const load = this.loads.get(key) ?? newLoad();
    load.isPreferred = this.isPreferred(message.sender);
    this.loads.set(key, load);
    const kept = load.byHeight.get(height) ?? [];
    load.byHeight.set(height, kept);
    const added: Kept<M> = { message, order: this.arrivals++ };
    kept.push(added);
    this.countMessage(load, message, 1);
    while (this.totalMessages > this.limits.messages || this.totalBytes > this.limits.bytes) this.makeRoom();
    return kept.at(-1) === added ? "buffered" : "bufferFull";
  }

  /** Removes and returns the messages of `height` in order of arrival; drops those of lower heights. */
  takeUpTo(height: bigint): readonly M[] {
    const taken: Kept<M>[] = [];
    for (const [key, load] of this.loads) {
      taken.push(...(load.byHeight.get(height) ?? []));
      for (const [known, kept] of load.byHeight) {
        if (known > height) continue;
        load.byHeight.delete(known);
        this.uncount(key, load, kept);
      }
    }
    return taken.sort((a, b) => a.order - b.order).map(({ message }) => message);
  }

  /** Evicts messages of the sender that uses most of the exceeded limit. */
  private makeRoom(): void {
    const unit = this.totalBytes > this.limits.bytes ? "bytes" : "messages";
    let heaviest: readonly [key: string, load: Load<M>] | undefined;
    for (const one of this.loads)
      if (heaviest === undefined || isEvictedBefore(one[1], heaviest[1], unit)) heaviest = one;
    const [key, load] = expectDefined(heaviest, "a sender with buffered messages");
    let highest = 0n;
    for (const height of load.byHeight.keys()) if (height > highest) highest = height;
    const kept = load.byHeight.get(highest) ?? [];
    const evicted = load.byHeight.size > 1 ? kept.splice(0) : kept.splice(0, 1);
    if (kept.length === 0) load.byHeight.delete(highest);
    this.uncount(key, load, evicted);
  }

  private countMessage(load: Load<M>, { payload }: M, sign: 1 | -1): void {
    load.messages += sign;
    load.bytes += sign * payload.length;
    this.totalMessages += sign;
    this.totalBytes += sign * payload.length;
  }

  private uncount(key: string, load: Load<M>, removed: readonly Kept<M>[]): void {
    for (const { message } of removed) this.countMessage(load, message, -1);
    if (load.messages === 0) this.loads.delete(key);
  }
}

function newLoad<M>(): Load<M> {
  return { isPreferred: false, messages: 0, bytes: 0, byHeight: new Map() };
}

function isEvictedBefore<M>(one: Load<M>, other: Load<M>, unit: "bytes" | "messages"): boolean {
  return one.isPreferred === other.isPreferred ? one[unit] > other[unit] : other.isPreferred;
}
