import { toKey } from "../primitives/byteKey.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Digest } from "../types/blockHash.ts";
import type { Commit, Prepare, RoundChange, SignedMessage } from "./message.ts";

/**
 * Messages of this height's validators for the round in progress and later ones, in order of arrival. One message per
 * author, kind and round: the first one counts. Bounded by the number of validators, since no other author is admitted.
 */
export type MessageSet = readonly RoundMessage[];

export type RoundMessage = Prepare | Commit | RoundChange;

/** Number of rounds for which we keep one author's messages of a kind; an honest author's messages cover few rounds. */
export const KEPT_ROUNDS_PER_AUTHOR = 8;

/** The message of the same author, kind and round, if the set has one. */
export function findMessage(messages: MessageSet, message: RoundMessage): RoundMessage | undefined {
  return messages.find(
    (known) =>
      hasAuthorAndKind(known, message) && known.signed.payload.round === message.signed.payload.round,
  );
}

/** Adds a message that has no predecessor. An author with too many of a kind loses the one of the lowest round. */
export function addMessage(messages: MessageSet, message: RoundMessage): MessageSet {
  const grown = [...messages, message];
  const sameAuthorAndKind = grown.filter((known) => hasAuthorAndKind(known, message));
  if (sameAuthorAndKind.length <= KEPT_ROUNDS_PER_AUTHOR) return grown;
  const lowest = sameAuthorAndKind.reduce((a, b) =>
    b.signed.payload.round < a.signed.payload.round ? b : a,
  );
  return grown.filter((known) => known !== lowest);
}

/** The set without the messages of rounds before `round`. */
export function dropRoundsBefore(messages: MessageSet, round: number): MessageSet {
  return messages.filter((known) => known.signed.payload.round >= round);
}

export function preparesFor(messages: MessageSet, round: number, digest: Digest): readonly Prepare[] {
  return messages.filter(
    (known): known is Prepare =>
      known.kind === "prepare" &&
      known.signed.payload.round === round &&
      equalBytes(known.signed.payload.digest, digest),
  );
}

export function commitsFor(messages: MessageSet, round: number, digest: Digest): readonly Commit[] {
  return messages.filter(
    (known): known is Commit =>
      known.kind === "commit" &&
      known.signed.payload.round === round &&
      equalBytes(known.signed.payload.digest, digest),
  );
}

export function roundChangesFor(messages: MessageSet, round: number): readonly RoundChange[] {
  return roundChangesIn(messages).filter(({ signed }) => signed.payload.round === round);
}

export function roundChangesIn(messages: MessageSet): readonly RoundChange[] {
  return messages.filter((known): known is RoundChange => known.kind === "roundChange");
}

/** Number of authors with a message of that round or a later one. */
export function authorsFrom(messages: MessageSet, round: number): number {
  const heard = messages.filter(({ signed }) => signed.payload.round >= round);
  return new Set(heard.map(({ signed }) => toKey(signed.author))).size;
}

/** True when two messages of one author, kind and round are about different blocks (equivocation). */
export function isDoubleVote(first: SignedMessage, second: SignedMessage): boolean {
  if (first.kind === "roundChange" || second.kind === "roundChange") return false;
  return !equalBytes(first.signed.payload.digest, second.signed.payload.digest);
}

function hasAuthorAndKind(known: RoundMessage, message: RoundMessage): boolean {
  return known.kind === message.kind && equalBytes(known.signed.author, message.signed.author);
}
