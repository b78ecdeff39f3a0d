import type { Authored } from "../ibft/message.ts";
import type { RoundId } from "../ibft/roundId.ts";
import type { Address } from "../primitives/address.ts";
import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import { equalBytes } from "../primitives/hex.ts";

/**
 * Which validators get the messages of an author without us. Where many are connected with each other, all would pass on to
 * all what all have from its author, and the messages of a block would grow with the cube of their number.
 *
 * Whoever brings us a message of another had it first from somebody else, for nobody sends a message back to where it came
 * from. So we need not pass that author's messages on to it, for some heights, once we have shown it the same of ourselves,
 * and as long as rounds succeed. Where a round is lost, links may have changed, or somebody may keep to himself what others
 * rely on him for: then all is passed on again for a while.
 */
export interface RedundantRelays {
  /** A message that came from `sender` was taken. */
  took(message: Authored, key: string, sender: Address): void;
  /** One that was taken before, in this height or the last, came from `sender` as well. */
  repeated(key: string, sender: Address): void;
  /** We said something in that place. */
  spokeIn(place: RoundId): void;
  heightBegan(): void;
  /** We pass a message of that author on. */
  show(to: Address, author: Address, height: bigint): void;
  /** Whether we did so lately. */
  hasShown(to: Address, author: Address, height: bigint): boolean;
  /**
   * Whether all these are connected with us, and no round was lost lately. Where links are few, two that serve a third
   * could each believe that the other does it.
   */
  hearsAll(others: readonly Address[], height: bigint): boolean;
  /** Whether it gets the author's messages of that height without us, and knows that we do without it. */
  isServed(to: Address, author: Address, height: bigint): boolean;
}

export function createRedundantRelays(): RedundantRelays {
  /** By receiver and author, the height up to which it holds. */
  const servedUpTo = new Map<string, bigint>();
  const shownUpTo = new Map<string, bigint>();
  const heardUpTo = new Map<string, bigint>();
  /** Who said what was taken in this height, and in the last: repetitions come late. */
  let authors = new Map<string, Source>();
  let earlier = authors;
  let lostUpTo = -1n;

  /** From the author itself it proves our connection. */
  function learn({ author, height }: Source, by: Address): void {
    note(equalBytes(by, author) ? heardUpTo : servedUpTo, by, author, height);
  }

  function spokeIn({ height, round }: RoundId): void {
    if (round === 0) return;
    servedUpTo.clear();
    shownUpTo.clear();
    lostUpTo = height + WARY_HEIGHTS;
  }

  const hasShown = (to: Address, author: Address, height: bigint): boolean =>
    (shownUpTo.get(pairOf(to, author)) ?? -1n) >= height;

  return {
    took({ signed: { author, payload } }, key, sender) {
      const source = { author, height: payload.height };
      authors.set(key, source);
      dropOldest(authors, SOURCES_LIMIT);
      learn(source, sender);
      spokeIn(payload);
    },
    repeated(key, sender) {
      const source = authors.get(key) ?? earlier.get(key);
      if (source !== undefined) learn(source, sender);
    },
    spokeIn,
    heightBegan() {
      earlier = authors;
      authors = new Map();
    },
    show: (to, author, height) => note(shownUpTo, to, author, height),
    hasShown,
    hearsAll: (others, height) =>
      height > lostUpTo && others.every((other) => (heardUpTo.get(pairOf(other, other)) ?? -1n) >= height),
    isServed: (to, author, height) =>
      hasShown(to, author, height) && (servedUpTo.get(pairOf(to, author)) ?? -1n) >= height,
  };
}

function note(pairs: Map<string, bigint>, to: Address, author: Address, height: bigint): void {
  const pair = pairOf(to, author);
  // What is learned at once is not all forgotten at once.
  const spread = BigInt((to[19] ?? 0) * 7 + (author[19] ?? 0) * 13) % BELIEVED_HEIGHTS;
  pairs.delete(pair);
  pairs.set(pair, height + BELIEVED_HEIGHTS + spread);
  dropOldest(pairs, PAIRS_LIMIT);
}

interface Source {
  readonly author: Address;
  readonly height: bigint;
}

const pairOf = (to: Address, author: Address): string => toKey(to) + toKey(author);

/** Heights for which it is believed, at least; at most twice as many. */
const BELIEVED_HEIGHTS = 64n;

/** Heights in which all is passed on after a round was lost: so rarely can anybody make use of it. */
const WARY_HEIGHTS = 64n;

/** All pairs of a hundred validators. */
const PAIRS_LIMIT = 10_000;

/** Several rounds of a hundred validators. */
const SOURCES_LIMIT = 2_000;
