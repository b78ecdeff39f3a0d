import type { SignedMessage } from "../../ibft/message.ts";
import type { Address } from "../../primitives/address.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { Declines } from "./declines.ts";

interface Source {
  readonly author: Address;
  readonly height: bigint;
  /** The nodes that sent it to us, in order of arrival. */
  readonly senders: Map<string, Address>;
  /** Senders whose copies are not needed, and to which no decline was sent yet. */
  redundant: readonly Address[];
}

/**
 * Tracks which nodes relay an author's messages to us, and to which we relay them: an epidemic broadcast tree per author, as
 * in Plumtree (Leitão and others, 2007). If every validator relayed to every other at once, the messages per block would
 * grow with the cube of the number of validators.
 *
 * A validator declines an author's messages from a relayer whose copies it does not need by sending such a copy back twice.
 * The same bytes are never sent twice over a connection otherwise, so Besu never declines. A declined relayer waits much
 * longer before it relays those messages, and relays them only while the block is undecided; so no message is withheld
 * for good. A relayer that has to relay after all forgets the decline.
 */
export class RelayPaths {
  private readonly declines = new Declines();
  private readonly latest = new LatestMessages();
  /** Sources of messages of this height and the previous one, because copies arrive late. */
  private sources = new Map<string, Source>();
  private earlier = this.sources;

  /** Records the first accepted copy of a message, received from `sender`. */
  accepted(message: SignedMessage, key: string, sender: Address): void {
    const { author, payload } = message.signed;
    if (!this.sources.has(key))
      this.sources.set(key, { author, height: payload.height, senders: new Map(), redundant: [] });
    dropOldest(this.sources, SOURCES_LIMIT);
    this.latest.add(message);
    this.repeated(key, sender);
  }

  /** Records another copy, from `sender`, of a message accepted at this height or the last. */
  repeated(messageKey: string, sender: Address): void {
    const source = this.sourceOf(messageKey);
    if (source === undefined) return;
    const { author, height, senders } = source;
    const key = toKey(sender);
    if (senders.has(key)) {
      this.declines.add(sender, author, height);
      return;
    }
    senders.set(key, sender);
    // The author, if it is connected to us, and the first sender are kept; otherwise the first few.
    if (equalBytes(sender, author)) {
      source.redundant = [...senders.values()].slice(1, -1);
    } else if (senders.size > KEPT_RELAYERS || senders.has(toKey(author))) {
      source.redundant = [sender];
    }
  }

  /** Returns the relayers to which a decline should be sent now, and records it as sent. */
  takeRedundant(key: string): readonly Address[] {
    const source = this.sourceOf(key);
    if (source === undefined) return [];
    const { author, height, redundant } = source;
    source.redundant = [];
    return redundant.filter((relayer) => this.declines.takeTurn(relayer, author, height));
  }

  /** Whether `sender` sent us this message at this height. */
  hasSent(key: string, sender: Address): boolean {
    return this.sources.get(key)?.senders.has(toKey(sender)) === true;
  }

  /** Whether `to` has sent a message of the same round's later stage, so that it does not need `message`. */
  isPast(to: Address, message: SignedMessage): boolean {
    return this.latest.isPast(to, message);
  }

  hasDeclined(to: Address, author: Address, height: bigint): boolean {
    return this.declines.has(to, author, height);
  }

  /** Forgets declines, since `to` may depend on us: for one author, or for all when `author` is undefined. */
  forgetDecline(to: Address, author?: Address): void {
    this.declines.forget(to, author);
    if (author === undefined) this.latest.forget(to);
  }

  heightBegan(): void {
    this.earlier = this.sources;
    this.sources = new Map();
    this.latest.clear();
  }

  private sourceOf(key: string): Source | undefined {
    return this.sources.get(key) ?? this.earlier.get(key);
  }
}

/** The last message of each validator at this height, which shows how far it is. */
class LatestMessages {
  private readonly messages = new Map<string, SignedMessage>();

  add(message: SignedMessage): void {
    const author = toKey(message.signed.author);
    const before = this.messages.get(author);
    if (before === undefined || isLater(message, before)) this.messages.set(author, message);
  }

  /** Whether `to` has sent a message of the same round's later stage. */
  isPast(to: Address, message: SignedMessage): boolean {
    const last = this.messages.get(toKey(to));
    if (last === undefined || last.signed.payload.round !== message.signed.payload.round) return false;
    return message.kind !== "roundChange" && STAGES[last.kind] > STAGES[message.kind];
  }

  forget(author: Address): void {
    void this.messages.delete(toKey(author));
  }

  clear(): void {
    this.messages.clear();
  }
}

function isLater(one: SignedMessage, other: SignedMessage): boolean {
  const rounds = one.signed.payload.round - other.signed.payload.round;
  return rounds > 0 || (rounds === 0 && STAGES[one.kind] > STAGES[other.kind]);
}

/** The order in which a validator sends its messages in a round. */
const STAGES: Readonly<Record<SignedMessage["kind"], number>> = {
  roundChange: 0,
  proposal: 1,
  prepare: 2,
  commit: 3,
};

/** Number of relayers kept for an author that is not connected to us: some may stop relaying, and the fastest one changes. */
const KEPT_RELAYERS = 8;

/** Most sources remembered: those of several rounds of a hundred validators. */
const SOURCES_LIMIT = 2_000;

/**
 * Delay before a message is relayed. In a full mesh the validators have it from its author by then, or no longer need it,
 * and earlier relaying would compete for their processors; in other topologies each hop takes that much longer.
 */
export const RELAY_DELAY_MS = 30;
