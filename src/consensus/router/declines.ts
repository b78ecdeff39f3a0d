import type { Address } from "../../primitives/address.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";

/** Tracks which validators declined an author's messages from us, and from which relayers we declined them. */
export class Declines {
  /** The height up to which a receiver declined an author's messages from us, by receiver and then by author. */
  private readonly declinedUpTo = new Map<string, Map<string, bigint>>();
  /** The height up to which we do not send another decline, by relayer and author. */
  private readonly sentUpTo = new Map<string, bigint>();

  /** Records that `to` declined the author's messages of this height and some further ones. */
  add(to: Address, author: Address, height: bigint): void {
    const authors = this.declinedUpTo.get(toKey(to)) ?? new Map<string, bigint>();
    // Spreads the expiry of declines that arrive at the same time.
    const spread = BigInt((to[19] ?? 0) * 7 + (author[19] ?? 0) * 13) % DECLINE_HEIGHTS;
    authors.set(toKey(author), height + DECLINE_HEIGHTS + spread);
    dropOldest(authors, VALIDATORS_LIMIT);
    this.declinedUpTo.set(toKey(to), authors);
    dropOldest(this.declinedUpTo, VALIDATORS_LIMIT);
  }

  has(to: Address, author: Address, height: bigint): boolean {
    return (this.declinedUpTo.get(toKey(to))?.get(toKey(author)) ?? -1n) >= height;
  }

  /** Forgets the declines of `to`: for one author, or for all when `author` is undefined. */
  forget(to: Address, author?: Address): void {
    if (author === undefined) this.declinedUpTo.delete(toKey(to));
    else this.declinedUpTo.get(toKey(to))?.delete(toKey(author));
  }

  /** Whether to decline the author's messages from `relayer` now; records it as sent. */
  takeTurn(relayer: Address, author: Address, height: bigint): boolean {
    const pair = toKey(relayer) + toKey(author);
    if ((this.sentUpTo.get(pair) ?? -1n) >= height) return false;
    this.sentUpTo.delete(pair);
    this.sentUpTo.set(pair, height + DECLINE_PAUSE_HEIGHTS);
    dropOldest(this.sentUpTo, PAIRS_LIMIT);
    return true;
  }
}

/**
 * Number of heights for which a decline is valid: at least this many, at most twice as many. Renewing one takes about four
 * messages, which is a seventh of all messages among forty validators.
 */
const DECLINE_HEIGHTS = 256n;

/** Number of heights before a decline is sent again: it takes effect after a moment, and Besu ignores it. */
const DECLINE_PAUSE_HEIGHTS = 8n;

const VALIDATORS_LIMIT = 200;

/** Most pairs remembered: all those of a hundred validators. */
const PAIRS_LIMIT = 10_000;
