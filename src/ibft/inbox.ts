import { toKey } from "../primitives/byteKey.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Digest } from "../types/blockHash.ts";
import type { Authored, Commit, Prepare, RoundChange } from "./message.ts";

/**
 * What validators said in this height, for the round in progress and later ones, in order of arrival. One message per
 * author, kind and round: the first one counts. Bounded by the number of validators, for nobody else gets in.
 */
export type Inbox = readonly Held[];

export type Held = Prepare | Commit | RoundChange;

/** Rounds of which we keep one author's messages of a kind; an honest author is never far ahead of its own words. */
export const KEPT_ROUNDS_PER_AUTHOR = 8;

/** The message already held in that place: the same author, kind and round. */
export function findHeld(inbox: Inbox, message: Held): Held | undefined {
  return inbox.find(
    (held) => isByAuthorOf(held, message) && held.signed.payload.round === message.signed.payload.round,
  );
}

/** The inbox with a message whose place is free. An author with too many of a kind loses that of the lowest round. */
export function hold(inbox: Inbox, message: Held): Inbox {
  const grown = [...inbox, message];
  const rivals = grown.filter((held) => isByAuthorOf(held, message));
  if (rivals.length <= KEPT_ROUNDS_PER_AUTHOR) return grown;
  const lowest = rivals.reduce((a, b) => (b.signed.payload.round < a.signed.payload.round ? b : a));
  return grown.filter((held) => held !== lowest);
}

/** Without the messages of rounds before `round`. */
export function dropRoundsBefore(inbox: Inbox, round: number): Inbox {
  return inbox.filter((held) => held.signed.payload.round >= round);
}

export function preparesFor(inbox: Inbox, round: number, digest: Digest): readonly Prepare[] {
  return inbox.filter(
    (held): held is Prepare =>
      held.kind === "prepare" &&
      held.signed.payload.round === round &&
      equalBytes(held.signed.payload.digest, digest),
  );
}

export function commitsFor(inbox: Inbox, round: number, digest: Digest): readonly Commit[] {
  return inbox.filter(
    (held): held is Commit =>
      held.kind === "commit" &&
      held.signed.payload.round === round &&
      equalBytes(held.signed.payload.digest, digest),
  );
}

export function roundChangesFor(inbox: Inbox, round: number): readonly RoundChange[] {
  return roundChangesIn(inbox).filter(({ signed }) => signed.payload.round === round);
}

export function roundChangesIn(inbox: Inbox): readonly RoundChange[] {
  return inbox.filter((held): held is RoundChange => held.kind === "roundChange");
}

/** How many authors spoke in that round or a later one. */
export function authorsFrom(inbox: Inbox, round: number): number {
  const heard = inbox.filter(({ signed }) => signed.payload.round >= round);
  return new Set(heard.map(({ signed }) => toKey(signed.author))).size;
}

/** True when one author, by two messages of one kind and round, stands behind two different blocks. */
export function isDoubleVote(first: Authored, second: Authored): boolean {
  if (first.kind === "roundChange" || second.kind === "roundChange") return false;
  return !equalBytes(first.signed.payload.digest, second.signed.payload.digest);
}

function isByAuthorOf(held: Held, message: Held): boolean {
  return held.kind === message.kind && equalBytes(held.signed.author, message.signed.author);
}
