import type { Authored } from "../../ibft/message.ts";
import type { Address } from "../../primitives/address.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { createDeclines } from "./declines.ts";

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
export interface RelayPaths {
  /** Records the first accepted copy of a message, received from `sender`. */
  accepted(message: Authored, key: string, sender: Address): void;
  /** Records another copy, from `sender`, of a message accepted at this height or the last. */
  repeated(key: string, sender: Address): void;
  /** Returns the relayers to which a decline should be sent now, and records it as sent. */
  takeRedundant(key: string): readonly Address[];
  /** Whether `sender` sent us this message of this height. */
  hasSent(key: string, sender: Address): boolean;
  /** Whether `to` has sent a message of the same round's later stage, so that it does not need `message`. */
  isPast(to: Address, message: Authored): boolean;
  hasDeclined(to: Address, author: Address, height: bigint): boolean;
  /** Forgets declines, since `to` may depend on us: for one author, or for all when `author` is undefined. */
  forgetDecline(to: Address, author?: Address): void;
  heightBegan(): void;
}

interface Source {
  readonly author: Address;
  readonly height: bigint;
  /** The nodes that sent it to us, in order of arrival. */
  readonly senders: Map<string, Address>;
  /** Senders whose copies are not needed, and to which no decline was sent yet. */
  redundant: readonly Address[];
}

export function createRelayPaths(): RelayPaths {
  const declines = createDeclines();
  const latest = createLatestMessages();
  /** Messages of this height, and of the last, because copies arrive late. */
  let sources = new Map<string, Source>();
  let earlier = sources;

  const sourceOf = (key: string): Source | undefined => sources.get(key) ?? earlier.get(key);

  function repeated(messageKey: string, sender: Address): void {
    const source = sourceOf(messageKey);
    if (source === undefined) return;
    const { author, height, senders } = source;
    const key = toKey(sender);
    if (senders.has(key)) {
      declines.add(sender, author, height);
      return;
    }
    senders.set(key, sender);
    // Keeps the author, if it is connected to us, and the first sender; or else the first few.
    if (equalBytes(sender, author)) {
      source.redundant = [...senders.values()].slice(1, -1);
    } else if (senders.size > KEPT_RELAYERS || senders.has(toKey(author))) {
      source.redundant = [sender];
    }
  }

  return {
    accepted(message, key, sender) {
      const { author, payload } = message.signed;
      if (!sources.has(key))
        sources.set(key, { author, height: payload.height, senders: new Map(), redundant: [] });
      dropOldest(sources, SOURCES_LIMIT);
      latest.add(message);
      repeated(key, sender);
    },
    repeated,
    takeRedundant(key) {
      const source = sourceOf(key);
      if (source === undefined) return [];
      const { author, height, redundant } = source;
      source.redundant = [];
      return redundant.filter((relayer) => declines.takeTurn(relayer, author, height));
    },
    hasSent: (key, sender) => sources.get(key)?.senders.has(toKey(sender)) === true,
    isPast: latest.isPast,
    hasDeclined: declines.has,
    forgetDecline(to, author) {
      declines.forget(to, author);
      if (author === undefined) latest.forget(to);
    },
    heightBegan() {
      earlier = sources;
      sources = new Map();
      latest.clear();
    },
  };
}

/** The last message of each validator at this height: how far its author is. */
interface LatestMessages {
  readonly add: (message: Authored) => void;
  /** Whether `to` has sent a message of the same round's later stage. */
  readonly isPast: (to: Address, message: Authored) => boolean;
  readonly forget: (author: Address) => void;
  readonly clear: () => void;
}

function createLatestMessages(): LatestMessages {
  const messages = new Map<string, Authored>();
  return {
    add(message) {
      const author = toKey(message.signed.author);
      const before = messages.get(author);
      if (before === undefined || isLater(message, before)) messages.set(author, message);
    },
    isPast(to, message) {
      const last = messages.get(toKey(to));
      if (last === undefined || last.signed.payload.round !== message.signed.payload.round) return false;
      return message.kind !== "roundChange" && STAGES[last.kind] > STAGES[message.kind];
    },
    forget: (author) => void messages.delete(toKey(author)),
    clear: () => messages.clear(),
  };
}

function isLater(one: Authored, other: Authored): boolean {
  const rounds = one.signed.payload.round - other.signed.payload.round;
  return rounds > 0 || (rounds === 0 && STAGES[one.kind] > STAGES[other.kind]);
}

/** The order in which a validator sends these in a round. */
const STAGES: Readonly<Record<Authored["kind"], number>> = {
  roundChange: 0,
  proposal: 1,
  prepare: 2,
  commit: 3,
};

/** Relayers kept for an author that is not connected to us: some may stop relaying, and the fastest one changes. */
const KEPT_RELAYERS = 8;

/** Several rounds of a hundred validators. */
const SOURCES_LIMIT = 2_000;

/**
 * Delay before a message is relayed. In a full mesh the validators have it from its author by then, or no longer need it,
 * and relaying earlier would compete for their processors; in other topologies each hop takes that much longer.
 */
export const RELAY_DELAY_MS = 30;
