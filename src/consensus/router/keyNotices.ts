import { readToEnd } from "../../ibft/codec/decoding.ts";
import type { Authored } from "../../ibft/message.ts";
import type { Address } from "../../primitives/address.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Clock } from "../../primitives/clock.ts";
import { TokenBucket } from "../../primitives/tokenBucket.ts";
import type { RawMessage } from "../buffers/futureMessages.ts";
import type { Carrier } from "../ports.ts";
import { type KeyNotice, keyNoticeIn } from "./keyNotice.ts";
import type { MessageCodec } from "./messageCodec.ts";
import { createSeenMessages } from "./seenMessages.ts";

/**
 * Passes notices of a shared key on to every connected node, validator or not, since the two nodes with that key may have no peer
 * in common. Only words: nothing here decides whether anybody votes.
 *
 * Invariants: a notice is passed on once, and only when `judge` says so; what a sender can have read, and what an author
 * can have passed on, is bounded per second.
 */
export interface KeyNotices {
  /** Takes a message of NOTICE_HEIGHT from the network. */
  receive(message: RawMessage): void;
  /** Sends our own notice to all. */
  send(message: Authored): void;
  /** To be called for each new connection: it is sent the notices of the last minute. */
  greet(send: (code: number, payload: Uint8Array) => void): void;
}

export interface KeyNoticesParts {
  readonly codec: MessageCodec;
  readonly carrier: Carrier;
  readonly clock: Pick<Clock, "nowMs">;
  /** Whether this validator's notice is news that others should have; only then it is passed on. */
  readonly judge: (notice: KeyNotice) => boolean;
  readonly isValidator: (address: Address) => boolean;
}

interface Kept {
  readonly code: number;
  readonly payload: Uint8Array;
  readonly atMs: number;
}

export function createKeyNotices({ codec, carrier, clock, judge, isValidator }: KeyNoticesParts): KeyNotices {
  const seen = createSeenMessages(NOTICES_REMEMBERED);
  const readings = createAllowances(READINGS);
  const relays = createAllowances(RELAYS);
  let kept: readonly Kept[] = [];

  function spread(code: number, payload: Uint8Array, except: readonly Address[]): void {
    const nowMs = clock.nowMs();
    kept = [...kept.filter(({ atMs }) => nowMs - atMs < KEPT_MS), { code, payload, atMs: nowMs }].slice(
      -KEPT,
    );
    carrier.send(code, payload, { to: carrier.connected ?? [], except });
  }

  return {
    receive({ sender, code, payload }) {
      const key = codec.keyOf(code, payload);
      const nowMs = clock.nowMs();
      if (!readings.take(toKey(sender), nowMs) || !seen.add(key)) return;
      const decoded = readToEnd(codec.read(code, payload, { isAuthorAllowed: isValidator }));
      const notice = decoded.ok ? keyNoticeIn(decoded.value) : undefined;
      if (
        notice === undefined ||
        !relays.take(`${notice.kind} ${toKey(notice.author)}`, nowMs) ||
        !judge(notice)
      )
        return;
      // The author's other node may be where the sender is not.
      spread(code, payload, [sender]);
    },
    send(message) {
      const { code, payload } = codec.encode(message);
      seen.add(codec.keyOf(code, payload));
      spread(code, payload, []);
    },
    greet(send) {
      const nowMs = clock.nowMs();
      for (const { code, payload, atMs } of kept) if (nowMs - atMs < KEPT_MS) send(code, payload);
    },
  };
}

interface Allowances {
  /** Whether there may be one more of this name now; counts it if so. */
  take(name: string, nowMs: number): boolean;
}

function createAllowances(limits: { readonly capacity: number; readonly perMs: number }): Allowances {
  const buckets = new Map<string, TokenBucket>();
  return {
    take(name, nowMs) {
      const bucket = buckets.get(name) ?? new TokenBucket({ ...limits, maxDebt: 0 }, nowMs);
      buckets.set(name, bucket);
      dropOldest(buckets, NAMES_REMEMBERED);
      if (bucket.refill(nowMs) < 1) return false;
      bucket.spend(1);
      return true;
    },
  };
}

/** By sender: each validator may say it at one time, and a signature takes some 45 µs. */
const READINGS = { capacity: 64, perMs: 4 / 1000 };
/** By author and kind; the two nodes with one key are one author. */
const RELAYS = { capacity: 8, perMs: 1 / 1000 };
const NAMES_REMEMBERED = 1_024;
const NOTICES_REMEMBERED = 256;
/** For nodes that connect later. */
const KEPT = 16;
const KEPT_MS = 60_000;
