import type { Authored } from "../../ibft/message.ts";
import type { Address } from "../../primitives/address.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes } from "../../primitives/hex.ts";

/**
 * Who brings us the messages of an author, and whom we bring them to: an epidemic broadcast tree for each author, as in
 * Plumtree (Leitão and others, 2007). If all passed on to all at once, the messages of a block would grow with the cube of
 * the number of validators.
 *
 * A validator declines an author's messages from a relayer whose copies it does not need: it sends such a copy back, twice.
 * Nobody sends the same bytes twice over a connection otherwise, so that Besu declines nothing. A declined relayer waits
 * much longer before it passes them on, and does so only while the block is undecided: nothing is ever kept back for good.
 * Whoever does so at last believes that decline no longer.
 */
export interface RelayPaths {
  /** A message that came from `sender` was taken. */
  took(message: Authored, key: string, sender: Address): void;
  /** One that was taken before, in this height or the last, came from `sender` as well, or once more. */
  repeated(key: string, sender: Address): void;
  /** Those of whom we need no messages of its author, and whom that is to be told now: it counts as told. */
  takeSpare(key: string): readonly Address[];
  /** Whether it brought a message of this height. */
  hasBrought(key: string, sender: Address): boolean;
  /** Whether it said something that nobody says without that message, or who has enough of its kind. */
  isPast(to: Address, message: Authored): boolean;
  hasDeclined(to: Address, author: Address, height: bigint): boolean;
  /** It may depend on us: `author` undefined stands for all. */
  forgetDecline(to: Address, author?: Address): void;
  heightBegan(): void;
}

interface Source {
  readonly author: Address;
  readonly height: bigint;
  /** Who brought it, in the order in which they did. */
  readonly bringers: Map<string, Address>;
  /** Those of them whose copies are not needed, and who may not know it. */
  spare: readonly Address[];
}

export function createRelayPaths(): RelayPaths {
  /** By receiver and then by author, the height up to which it needs none of the author's messages from us. */
  const declinedUpTo = new Map<string, Map<string, bigint>>();
  /** By relayer and author, the height up to which we do not decline again. */
  const saidUpTo = new Map<string, bigint>();
  /** Messages of this height, and of the last: copies come late. */
  let sources = new Map<string, Source>();
  let earlier = sources;
  /** The last that each validator said in this height. */
  const said = new Map<string, Authored>();

  const sourceOf = (key: string): Source | undefined => sources.get(key) ?? earlier.get(key);

  function repeated(key: string, sender: Address): void {
    const source = sourceOf(key);
    if (source === undefined) return;
    const { author, height, bringers } = source;
    const by = toKey(sender);
    if (bringers.has(by)) {
      noteDecline(sender, author, height);
      return;
    }
    bringers.set(by, sender);
    // Kept are the author itself, if it is connected with us, and whoever is quicker; or else the quickest few.
    if (equalBytes(sender, author)) {
      source.spare = [...bringers.values()].slice(1, -1);
    } else if (bringers.size > KEPT_RELAYERS || bringers.has(toKey(author))) {
      source.spare = [sender];
    }
  }

  function noteDecline(to: Address, author: Address, height: bigint): void {
    const authors = declinedUpTo.get(toKey(to)) ?? new Map<string, bigint>();
    // What is learned at once is not all forgotten at once.
    const spread = BigInt((to[19] ?? 0) * 7 + (author[19] ?? 0) * 13) % BELIEVED_HEIGHTS;
    authors.set(toKey(author), height + BELIEVED_HEIGHTS + spread);
    dropOldest(authors, VALIDATORS_LIMIT);
    declinedUpTo.set(toKey(to), authors);
    dropOldest(declinedUpTo, VALIDATORS_LIMIT);
  }

  return {
    took(message, key, sender) {
      const { author, payload } = message.signed;
      if (!sources.has(key))
        sources.set(key, { author, height: payload.height, bringers: new Map(), spare: [] });
      dropOldest(sources, SOURCES_LIMIT);
      const before = said.get(toKey(author));
      if (before === undefined || isLater(message, before)) said.set(toKey(author), message);
      repeated(key, sender);
    },
    repeated,
    takeSpare(key) {
      const source = sourceOf(key);
      if (source === undefined) return [];
      const { author, height, spare } = source;
      source.spare = [];
      return spare.filter((bringer) => {
        const pair = toKey(bringer) + toKey(author);
        if ((saidUpTo.get(pair) ?? -1n) >= height) return false;
        saidUpTo.delete(pair);
        saidUpTo.set(pair, height + SAID_HEIGHTS);
        dropOldest(saidUpTo, PAIRS_LIMIT);
        return true;
      });
    },
    hasBrought: (key, sender) => sources.get(key)?.bringers.has(toKey(sender)) === true,
    isPast(to, message) {
      const last = said.get(toKey(to));
      if (last === undefined || last.signed.payload.round !== message.signed.payload.round) return false;
      return message.kind !== "roundChange" && STAGES[last.kind] > STAGES[message.kind];
    },
    hasDeclined: (to, author, height) => (declinedUpTo.get(toKey(to))?.get(toKey(author)) ?? -1n) >= height,
    forgetDecline(to, author) {
      if (author !== undefined) {
        declinedUpTo.get(toKey(to))?.delete(toKey(author));
        return;
      }
      declinedUpTo.delete(toKey(to));
      said.delete(toKey(to));
    },
    heightBegan() {
      earlier = sources;
      sources = new Map();
      said.clear();
    },
  };
}

function isLater(one: Authored, other: Authored): boolean {
  const rounds = one.signed.payload.round - other.signed.payload.round;
  return rounds > 0 || (rounds === 0 && STAGES[one.kind] > STAGES[other.kind]);
}

/** In the order in which they are said in a round. */
const STAGES: Readonly<Record<Authored["kind"], number>> = {
  roundChange: 0,
  proposal: 1,
  prepare: 2,
  commit: 3,
};

/**
 * Heights for which a decline is believed, at least; at most twice as many. Each takes about four messages again, which is a
 * seventh of all among forty validators.
 */
const BELIEVED_HEIGHTS = 256n;

/** Of those who bring the messages of an author that is not connected with us: some may stop, and the quickest changes. */
const KEPT_RELAYERS = 8;

/** Heights for which one is not repeated: it takes a moment, and Besu does not hear it. */
const SAID_HEIGHTS = 8n;

const VALIDATORS_LIMIT = 200;

/** All pairs of a hundred validators. */
const PAIRS_LIMIT = 10_000;

/** Several rounds of a hundred validators. */
const SOURCES_LIMIT = 2_000;

/**
 * How long a message waits before it is passed on. Validators that are all connected have it from its author by then, or
 * need it no more, and their processors are busy with it; where they are not, each step takes so much longer.
 */
export const RELAY_PATIENCE_MS = 30;
