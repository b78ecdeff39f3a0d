import { readToEnd } from "../../ibft/codec/decoding.ts";
import type { SignedMessage } from "../../ibft/message.ts";
import type { Address } from "../../primitives/address.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Clock } from "../../primitives/clock.ts";
import { TokenBucket } from "../../primitives/tokenBucket.ts";
import type { RawMessage } from "../buffers/futureMessages.ts";
import type { Carrier } from "../ports.ts";
import { type KeyNotice, keyNoticeIn } from "../sharedKey/notice.ts";
import type { MessageCodec } from "./messageCodec.ts";
import { SeenMessages } from "./seenMessages.ts";

interface NoticeRelayParts {
  readonly codec: MessageCodec;
  readonly carrier: Carrier;
  readonly clock: Pick<Clock, "nowMs">;
  /** Whether a validator's notice is news; only then is it relayed. */
  readonly judge: (notice: KeyNotice) => boolean;
  readonly isValidator: (address: Address) => boolean;
}

interface Kept {
  readonly code: number;
  readonly payload: Uint8Array;
  readonly atMs: number;
}

/**
 * Relays notices of a shared key to every connected node, validator or not, since the two nodes with that key may have no
 * peer in common. Nothing here decides whether anybody votes.
 *
 * Invariants: a notice is relayed once, and only when `judge` says so; how many notices are read per sender, and relayed per
 * author, is bounded per second.
 */
export class NoticeRelay {
  private readonly parts: NoticeRelayParts;
  private readonly seen = new SeenMessages(NOTICES_REMEMBERED);
  private readonly readings = new Allowances(READINGS);
  private readonly relays = new Allowances(RELAYS);
  private kept: readonly Kept[] = [];

  constructor(parts: NoticeRelayParts) {
    this.parts = parts;
  }

  /** Receives a message of NOTICE_HEIGHT from the network. */
  receive({ sender, code, payload }: RawMessage): void {
    const { codec, clock, isValidator, judge } = this.parts;
    const key = codec.keyOf(code, payload);
    const nowMs = clock.nowMs();
    if (!this.readings.take(toKey(sender), nowMs) || !this.seen.add(key)) return;
    const decoded = readToEnd(codec.read(code, payload, { isAuthorAllowed: isValidator }));
    const notice = decoded.ok ? keyNoticeIn(decoded.value) : undefined;
    if (
      notice === undefined ||
      !this.relays.take(`${notice.kind} ${toKey(notice.author)}`, nowMs) ||
      !judge(notice)
    )
      return;
    // The author's other node may be connected to us but not to the sender.
    this.spread(code, payload, [sender]);
  }

  /** Sends our own notice to all. */
  send(message: SignedMessage): void {
    const { codec } = this.parts;
    const { code, payload } = codec.encode(message);
    this.seen.add(codec.keyOf(code, payload));
    this.spread(code, payload, []);
  }

  /** Must be called for each new connection: sends it the notices of the last minute. */
  greet(send: (code: number, payload: Uint8Array) => void): void {
    const nowMs = this.parts.clock.nowMs();
    for (const { code, payload, atMs } of this.kept) if (nowMs - atMs < KEPT_MS) send(code, payload);
  }

  private spread(code: number, payload: Uint8Array, except: readonly Address[]): void {
    const { clock, carrier } = this.parts;
    const nowMs = clock.nowMs();
    this.kept = [
      ...this.kept.filter(({ atMs }) => nowMs - atMs < KEPT_MS),
      { code, payload, atMs: nowMs },
    ].slice(-KEPT);
    carrier.send(code, payload, { to: carrier.connected ?? [], except });
  }
}

class Allowances {
  private readonly limits: { readonly capacity: number; readonly perMs: number };
  private readonly buckets = new Map<string, TokenBucket>();

  constructor(limits: { readonly capacity: number; readonly perMs: number }) {
    this.limits = limits;
  }

  /** Whether one more of this name is allowed now; counts it if so. */
  take(name: string, nowMs: number): boolean {
    const bucket = this.buckets.get(name) ?? new TokenBucket({ ...this.limits, maxDebt: 0 }, nowMs);
    this.buckets.set(name, bucket);
    dropOldest(this.buckets, NAMES_REMEMBERED);
    if (bucket.refill(nowMs) < 1) return false;
    bucket.spend(1);
    return true;
  }
}

/** Allowance of each sender: all validators may send one at the same time, and a signature takes some 45 µs. */
const READINGS = { capacity: 64, perMs: 4 / 1000 };
/** Allowance of each author and kind; the two nodes with one key are one author. */
const RELAYS = { capacity: 8, perMs: 1 / 1000 };
const NAMES_REMEMBERED = 1_024;
const NOTICES_REMEMBERED = 256;
/** Number of notices kept for nodes that connect later. */
const KEPT = 16;
const KEPT_MS = 60_000;
