import type { Head } from "../ibft/input.ts";
import type { Authored } from "../ibft/message.ts";
import { MESSAGE_CODES } from "../ibft/payloadCodec.ts";
import type { Rules } from "../ibft/state.ts";
import { DECODING_DEFECTS } from "../ibft/strictRlp.ts";
import { isValidator } from "../ibft/validatorVotes.ts";
import type { Logger } from "../logging/logger.ts";
import type { Metrics } from "../metrics/registry.ts";
import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock } from "../primitives/clock.ts";
import { equalBytes, includesBytes, toHex } from "../primitives/hex.ts";
import type { FindTransaction } from "../types/transaction.ts";
import { createDistantWords } from "./distantWords.ts";
import { createFutureMessages, type FutureLimits, type RawMessage } from "./futureMessages.ts";
import { createOwnWords } from "./ownWords.ts";
import type { Carrier } from "./ports.ts";
import { createSeenMessages } from "./seenMessages.ts";
import { IBF_SPELLING, type Spelling } from "./spelling.ts";

/**
 * Between bytes on the wire and the engine: what is read at all, what is passed on, what waits (ibft2.md §8.1, §10).
 *
 *   bytes -> seen before? -> which height? -> past: dropped
 *                                          -> to come: kept unread until its height begins
 *                                          -> now: author known? -> read whole -> engine
 *                                                                             \-> relayed, same bytes, a little later
 *
 * It keeps these: a message is relayed to all validators but those who are known to have it, and nothing goes out twice
 * on one connection; only validators make us work; everything that is kept is bounded, and so is what is passed on for
 * one author in a height. Nothing that arrives can make it throw.
 */
export interface Correspondence {
  /** From the network: a payload, uncompressed, which belongs to us from now on. */
  receive(message: RawMessage): void;
  /** Another block is the head, and the engine has been told. Messages that waited for this are taken now. */
  headAdvanced(head: Head): void;
  /** Our own words, to every other validator. */
  multicast(message: Authored, validators: readonly Address[]): void;
  /**
   * A connection to that node opened. If it is a validator, we say over it again what we said last in this height: when
   * several start together, what they said before they were connected would else be lost, and cost them a round timeout.
   */
  peerConnected(address: Address, say: (code: number, payload: Uint8Array) => void): void;
  /** Messages waiting for their height, and their bytes; and the wishes for a round that are too far above to wait so. */
  readonly waiting: { readonly messages: number; readonly bytes: number; readonly distant: number };
  /** Messages known to have come in, and to have gone out. */
  readonly remembered: { readonly received: number; readonly sent: number };
}

/** What may become of a message that comes in; to be counted by. */
export const FATES = [
  "taken",
  "duplicate",
  "past",
  "kept",
  "tooFar",
  "full",
  "notValidating",
  ...DECODING_DEFECTS,
] as const;

export type Fate = (typeof FATES)[number];

export interface CorrespondenceMetrics {
  received(fate: Fate): void;
  relayed(): void;
  /** A message that the machine is given. */
  taken?(message: Authored): void;
  /** So many messages of heights to come are not kept, or not any more. */
  futureDropped?(count: number): void;
}

export function declareCorrespondenceMetrics(metrics: Metrics): CorrespondenceMetrics {
  const judged = metrics.counter({
    category: "BFT",
    name: "messages_judged_total",
    help: "Consensus messages that came in, by what became of them",
    labels: ["fate"],
  });
  for (const fate of FATES) judged.with(fate);
  const received = metrics.counter({
    category: "BFT",
    name: "messages_received_total",
    help: "Consensus messages of the height in progress, by kind and author",
    labels: ["type", "validator"],
  });
  const futureDropped = metrics.counter({
    category: "BFT",
    name: "future_messages_dropped_total",
    help: "Consensus messages of heights to come that were too far ahead, or too many",
  });
  const relayed = metrics.counter({
    category: "BFT",
    name: "messages_relayed_total",
    help: "Consensus messages of others that were passed on to other validators",
  });
  return {
    received: (fate) => judged.with(fate).increment(),
    taken: ({ kind, signed }) => received.with(kind, toHex(signed.author)).increment(),
    relayed: () => relayed.with().increment(),
    futureDropped: (count) => futureDropped.with().increment(count),
  };
}

export interface CorrespondenceParts {
  readonly self: Address;
  readonly schedule: Pick<
    Rules["schedule"],
    "duplicateMessageLimit" | "gossipedHistoryLimit" | "futureMessagesLimit" | "futureMessagesMaxDistance"
  >;
  readonly carrier: Carrier;
  /** Takes what is of the height in progress, and hears for how long it waited for that. */
  readonly deliver: (message: Authored, waitedMs: number) => void;
  /** Any clock: durations are all that is asked of it. */
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  /** Transactions that are known already, so that those of a proposal are not decoded again. */
  readonly findTransaction?: FindTransaction;
  /** Somebody speaks of a height beyond ours, so that its chain may have that many blocks less one. */
  readonly onAhead?: (sender: Address, number: bigint) => void;
  /** A message that no honest node sends, from one that is no validator. */
  readonly onJunk?: (sender: Address) => void;
  readonly metrics?: CorrespondenceMetrics | undefined;
  /** That of IBF/1 unless stated. */
  readonly spelling?: Spelling;
  /** Passes on what waits, a little later: at once unless given. */
  readonly later?: (passOn: () => void) => void;
}

interface Arrived extends RawMessage {
  readonly arrivedAtMs: number;
}

export function createCorrespondence(parts: CorrespondenceParts): Correspondence {
  const { self, schedule, carrier, deliver, clock, logger, onAhead, onJunk, metrics, findTransaction } =
    parts;
  const { spelling = IBF_SPELLING, later = (passOn) => passOn() } = parts;
  const received = createSeenMessages(schedule.duplicateMessageLimit);
  const sent = createSeenMessages(schedule.gossipedHistoryLimit);
  const limits: FutureLimits = {
    messages: schedule.futureMessagesLimit,
    distance: schedule.futureMessagesMaxDistance,
    bytes: FUTURE_BYTES_LIMIT,
  };
  const future = createFutureMessages<Arrived>(
    limits,
    (sender) => head !== undefined && isValidator(head.tally, sender),
  );
  /** What validators say once, when they connect, may come before we are told of our own head. */
  const early = createFutureMessages<Arrived>(limits);
  const distant = createDistantWords<Arrived>(DISTANT_LIMITS);
  const own = createOwnWords();
  /** To be passed on in a moment, by key, to whoever is not known to have it by then. */
  const relays = new Map<string, Relay>();
  /** By author, how many were passed on in this height. */
  const passedOn = new Map<string, number>();
  let head: Head | undefined;

  /**
   * An author who says more than we remember would else have us all pass on the same words again and again, for as long
   * as the height lasts.
   */
  function hasRelayLeft(author: Address): boolean {
    const count = passedOn.get(toKey(author)) ?? 0;
    passedOn.set(toKey(author), count + 1);
    return count < RELAYS_OF_AUTHOR;
  }

  /** The message, if its author is one of those, or why it is refused. */
  function read({ sender, code, payload }: RawMessage, validators: readonly Address[]): Authored | Fate {
    const maySpeak = (author: Address): boolean => includesBytes(validators, author);
    const decoded = spelling.decode(code, payload, {
      maySpeak,
      ...(findTransaction !== undefined && { findTransaction }),
    });
    if (decoded.ok) return decoded.value;
    const { code: reason, message } = decoded.rejection;
    logger.debug({ sender, code, reason, message }, "a consensus message is refused");
    return reason;
  }

  /** What becomes of a message of the height in progress. */
  function take(raw: Arrived, { tally }: Head): Fate {
    if (!isValidator(tally, self)) return "notValidating";
    const message = read(raw, tally.validators);
    if (typeof message === "string") return message;
    const { sender, code, payload } = raw;
    const key = spelling.keyOf(code, payload);
    const { author, payload: words } = message.signed;
    if (sent.add(key) && hasRelayLeft(author)) {
      const except = [sender, author, self];
      relays.set(key, { code, payload, height: words.height, to: tally.validators, except });
      if (relays.size === 1) later(passOn);
      if (relays.size >= RELAYS_LIMIT) passOn();
    }
    metrics?.taken?.(message);
    deliver(message, clock.nowMs() - raw.arrivedAtMs);
    return "taken";
  }

  /** Whoever has a message meanwhile needs it no more; nor does anybody whose block we have, for that is announced. */
  function passOn(): void {
    for (const { code, payload, height, to, except } of relays.values()) {
      const isOver = head !== undefined && height <= head.header.number;
      if (isOver || to.every((address) => includesBytes(except, address))) continue;
      carrier.send(code, payload, { to, except });
      metrics?.relayed();
    }
    relays.clear();
  }

  function judge(message: Arrived, known: Head): Fate {
    const key = spelling.keyOf(message.code, message.payload);
    if (!received.add(key)) {
      const relay = relays.get(key);
      if (relay !== undefined && !includesBytes(relay.except, message.sender))
        relay.except.push(message.sender);
      return "duplicate";
    }
    const place = spelling.peekPlace(message.code, message.payload);
    if (place === undefined) {
      const refusal = read(message, []);
      return typeof refusal === "string" ? refusal : "malformed";
    }
    if (place.height <= known.header.number) return "past";
    const current = known.header.number + 1n;
    if (place.height === current) return take(message, known);
    onAhead?.(message.sender, place.height - 1n);
    const before = future.count;
    const fate = future.add(message, place.height, current);
    const dropped = before + 1 - future.count;
    if (dropped > 0) metrics?.futureDropped?.(dropped);
    const isWish = message.code === MESSAGE_CODES.roundChange && isValidator(known.tally, message.sender);
    if (fate === "tooFar" && isWish) distant.note(message, place.height);
    return fate;
  }

  function receive(message: Arrived): void {
    if (head === undefined) {
      early.add(message, 0n, 0n);
      return;
    }
    const fate = judge(message, head);
    metrics?.received(fate);
    // A validator's words may have been made by a liar so that others relay what only we cannot read.
    if (isDecodingDefect(fate) && !isValidator(head.tally, message.sender)) onJunk?.(message.sender);
  }

  return {
    receive: (message) => receive({ ...message, arrivedAtMs: clock.nowMs() }),
    headAdvanced(next) {
      if (head !== undefined && next.header.number <= head.header.number) return;
      head = next;
      passedOn.clear();
      own.dropUpTo(next.header.number);
      const height = next.header.number + 1n;
      for (const message of [...distant.takeUpTo(height), ...future.takeUpTo(height)]) {
        const fate = take(message, next);
        metrics?.received(fate);
      }
      distant.keepOnlyThoseOf(next.tally.validators);
      early.takeUpTo(0n).forEach(receive);
    },
    multicast(message, validators) {
      // A lone validator's proposal is a whole block, to be spelled and hashed for nobody.
      if (validators.every((validator) => equalBytes(validator, self))) return;
      const { code, payload } = spelling.encode(message);
      if (!sent.add(spelling.keyOf(code, payload))) return;
      own.add(message.signed.payload, { code, payload });
      carrier.send(code, payload, { to: validators, except: [self] });
    },
    peerConnected(address, say) {
      if (head === undefined || equalBytes(address, self) || !isValidator(head.tally, address)) return;
      for (const { code, payload } of own.words) say(code, payload);
    },
    get waiting() {
      return { messages: future.count, bytes: future.bytes, distant: distant.count };
    },
    get remembered() {
      return { received: received.size, sent: sent.size };
    },
  };
}

/** More than the validators of one round say; who says more is not waited with. */
const RELAYS_LIMIT = 256;

/** In one height. An honest author says four things in a round, and the rounds become longer and longer. */
const RELAYS_OF_AUTHOR = 256;

interface Relay {
  readonly code: number;
  readonly payload: Uint8Array;
  readonly height: bigint;
  readonly to: readonly Address[];
  /** Who is known to have it. */
  readonly except: Address[];
}

function isDecodingDefect(fate: Fate): boolean {
  return DECODING_DEFECTS.some((defect) => defect === fate);
}

/** Of each validator that is connected. A wish for a round may carry the block that was prepared. */
const DISTANT_LIMITS = { messagesPerSender: 4, bytesPerSender: 4 * 1024 * 1024 };

/** Some dozens of full blocks. */
export const FUTURE_BYTES_LIMIT = 64 * 1024 * 1024;
