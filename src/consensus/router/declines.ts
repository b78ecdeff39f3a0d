import type { Address } from "../../primitives/address.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";

/** Which validators declined an author's messages from us, and from which relayers we declined them. */
export interface Declines {
  /** Records that `to` declined the author's messages of this height and some further ones. */
  readonly add: (to: Address, author: Address, height: bigint) => void;
  readonly has: (to: Address, author: Address, height: bigint) => boolean;
  /** Forgets the declines of `to`: for one author, or for all when `author` is undefined. */
  readonly forget: (to: Address, author?: Address) => void;
  /** Whether to decline the author's messages from `relayer` now; records it as sent. */
  readonly takeTurn: (relayer: Address, author: Address, height: bigint) => boolean;
}

export function createDeclines(): Declines {
  /** The height up to which a receiver declined an author's messages from us, by receiver and then by author. */
  const declinedUpTo = new Map<string, Map<string, bigint>>();
  /** The height up to which we do not send another decline, by relayer and author. */
  const sentUpTo = new Map<string, bigint>();
  return {
    add(to, author, height) {
      const authors = declinedUpTo.get(toKey(to)) ?? new Map<string, bigint>();
      // Spreads the expiry of declines that arrive at the same time.
      const spread = BigInt((to[19] ?? 0) * 7 + (author[19] ?? 0) * 13) % DECLINE_HEIGHTS;
      authors.set(toKey(author), height + DECLINE_HEIGHTS + spread);
      dropOldest(authors, VALIDATORS_LIMIT);
      declinedUpTo.set(toKey(to), authors);
      dropOldest(declinedUpTo, VALIDATORS_LIMIT);
    },
    has: (to, author, height) => (declinedUpTo.get(toKey(to))?.get(toKey(author)) ?? -1n) >= height,
    forget(to, author) {
      if (author === undefined) declinedUpTo.delete(toKey(to));
      else declinedUpTo.get(toKey(to))?.delete(toKey(author));
    },
    takeTurn(relayer, author, height) {
      const pair = toKey(relayer) + toKey(author);
      if ((sentUpTo.get(pair) ?? -1n) >= height) return false;
      sentUpTo.delete(pair);
      sentUpTo.set(pair, height + DECLINE_PAUSE_HEIGHTS);
      dropOldest(sentUpTo, PAIRS_LIMIT);
      return true;
    },
  };
}

/**
 * Heights for which a decline is valid: at least so many, at most twice as many. Renewing one takes about four messages,
 * which is a seventh of all messages among forty validators.
 */
const DECLINE_HEIGHTS = 256n;

/** Heights before a decline is sent again: it takes effect after a moment, and Besu ignores it. */
const DECLINE_PAUSE_HEIGHTS = 8n;

const VALIDATORS_LIMIT = 200;

/** All pairs of a hundred validators. */
const PAIRS_LIMIT = 10_000;
