import type { Prepare, SignedMessage } from "../../ibft/message.ts";
import { type Address, asAddress } from "../../primitives/address.ts";
import { asHash } from "../../primitives/hash.ts";
import { concatBytes, equalBytes } from "../../primitives/hex.ts";
import { bigintToFixedBytes, bytesToBigint } from "../../primitives/quantity.ts";
import type { Digest } from "../../types/blockHash.ts";

/**
 * A notice that validators exchange about one key on two nodes (ibft2.md#notices-of-a-shared-key). On the wire it is a
 * Prepare of height 0, for which nobody ever votes: genesis is given. So it binds its author to nothing, and a node that
 * does not know it (Besu, and earlier releases) drops it as a stale message.
 */
export interface KeyNotice {
  readonly kind: KeyNoticeKind;
  readonly author: Address;
  /** The key in question: the author's own, except in reports and contradictions. */
  readonly key: Address;
  /** When it was signed, milliseconds since 1970 by the author's clock. */
  readonly atMs: number;
  /** Time for which the author has been running. */
  readonly ageSeconds: number;
}

/**
 * `ask`: a node with this key does not take part yet, and asks whether another one does. `claim`: a node with this key takes
 * part. `report`: the author knows that two nodes run with the key. `contradiction`: the key has signed two blocks in one
 * round, so two nodes run with it, or its owner is Byzantine.
 */
const KEY_NOTICE_KINDS = ["ask", "claim", "report", "contradiction"] as const;

export type KeyNoticeKind = (typeof KEY_NOTICE_KINDS)[number];

/** The height of notices, at which no votes are cast. */
export const NOTICE_HEIGHT = 0n;

/** Lengths of the parts of a digest: mark, kind, time, age, key. */
const MARK = new TextEncoder().encode("2k");
const KIND_AT = MARK.length;
const TIME_AT = KIND_AT + 1;
const AGE_AT = TIME_AT + 6;
const KEY_AT = AGE_AT + 3;
const LONGEST_AGE = 0xff_ff_ff;

/** The payload that the author of a notice signs. */
export function keyNoticePayload({
  kind,
  key,
  atMs,
  ageSeconds,
}: Omit<KeyNotice, "author">): Prepare["signed"]["payload"] {
  const age = Math.min(Math.max(Math.floor(ageSeconds), 0), LONGEST_AGE);
  const digest = concatBytes(
    MARK,
    Uint8Array.of(KEY_NOTICE_KINDS.indexOf(kind)),
    bigintToFixedBytes(BigInt(Math.floor(atMs)), AGE_AT - TIME_AT),
    bigintToFixedBytes(BigInt(age), KEY_AT - AGE_AT),
    key,
  );
  return { kind: "prepare", height: NOTICE_HEIGHT, round: 0, digest: asHash(digest) as Digest };
}

/** The notice in a message; undefined for any other message, and for an ask or a claim in another's name. */
export function keyNoticeIn(message: SignedMessage): KeyNotice | undefined {
  const { author, payload } = message.signed;
  if (message.kind !== "prepare" || payload.kind !== "prepare" || payload.height !== NOTICE_HEIGHT)
    return undefined;
  const { digest } = payload;
  const kind = KEY_NOTICE_KINDS[digest[KIND_AT] ?? KEY_NOTICE_KINDS.length];
  if (kind === undefined || !equalBytes(digest.subarray(0, KIND_AT), MARK)) return undefined;
  const key = asAddress(digest.slice(KEY_AT));
  if ((kind === "ask" || kind === "claim") && !equalBytes(key, author)) return undefined;
  const atMs = Number(bytesToBigint(digest.subarray(TIME_AT, AGE_AT)));
  return { kind, author, key, atMs, ageSeconds: Number(bytesToBigint(digest.subarray(AGE_AT, KEY_AT))) };
}
