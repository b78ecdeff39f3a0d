import { isMessageCode, PAYLOAD_LIMITS, readToEnd } from "../../ibft/codec.ts";
import type { Head } from "../../ibft/input.ts";
import type { Authored } from "../../ibft/message.ts";
import { MESSAGE_CODES } from "../../ibft/payloadCodec.ts";
import type { Rules } from "../../ibft/state.ts";
import { DECODING_ERRORS } from "../../ibft/strictRlp.ts";
import { isValidator } from "../../ibft/validatorVotes.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import { equalBytes, includesBytes, toHex } from "../../primitives/hex.ts";
import type { FindTransaction } from "../../types/transaction.ts";
import { createFarFutureRoundChanges } from "../buffers/farFutureRoundChanges.ts";
import { createFutureMessages, type FutureLimits, type RawMessage } from "../buffers/futureMessages.ts";
import { createLastSentMessages } from "../buffers/lastSentMessages.ts";
import type { Carrier } from "../ports.ts";
import { IBF_CODEC, type MessageCodec } from "./messageCodec.ts";
import { createMessageReading, type Keyed } from "./messageReading.ts";
import type { ReadingShares } from "./readingShares.ts";
import { createRelayBudget } from "./relayBudget.ts";
import { createRelayPaths, RELAY_PATIENCE_MS } from "./relayPaths.ts";
import { createSeenMessages } from "./seenMessages.ts";

/**
 * Between bytes on the wire and the engine: what is read at all, what is passed on, what waits
 * (ibft2.md#entry-filter, ibft2.md#relay-and-buffers).
 *
 *   bytes -> seen before? -> which height? -> past: dropped
 *                                          -> to come: kept unread until its height begins
 *                                          -> now: author known? -> read whole -> engine
 *                                                                             \-> relayed, same bytes, a little later
 *
 * It keeps these: a message is relayed to all validators but those who are known to have it, much later to those who have
 * declined messages of its author from us (relayPaths.ts), and twice only to decline; only validators make us work;
 * everything that is kept is bounded, and so is what is passed on for one author in a height. Nothing that arrives can make
 * it throw.
 */
export interface MessageRouter {
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
export const VALIDATION_RESULTS = [
  "taken",
  "duplicate",
  "past",
  "kept",
  "tooFar",
  "full",
  "overShare",
  "notValidating",
  ...DECODING_ERRORS,
] as const;

export type ValidationResult = (typeof VALIDATION_RESULTS)[number];

export interface MessageRouterMetrics {
  received(fate: ValidationResult): void;
  relayed(): void;
  /** A message that the machine is given. */
  taken?(message: Authored): void;
  /** So many messages of heights to come are not kept, or not any more. */
  futureDropped?(count: number): void;
}

export function declareMessageRouterMetrics(metrics: Metrics): MessageRouterMetrics {
  const judged = metrics.counter({
    category: "BFT",
    name: "messages_judged_total",
    help: "Consensus messages that came in, by what became of them",
    labels: ["fate"],
  });
  for (const fate of VALIDATION_RESULTS) judged.with(fate);
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

export interface MessageRouterParts {
  readonly self: Address;
  readonly schedule: Pick<
    Rules["schedule"],
    | "duplicateMessageLimit"
    | "gossipedHistoryLimit"
    | "futureMessagesLimit"
    | "futureMessagesMaxDistance"
    | "requestTimeoutSeconds"
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
  readonly penalisePeer?: (sender: Address) => void;
  readonly metrics?: MessageRouterMetrics | undefined;
  /** That of IBF/1 unless stated. */
  readonly codec?: MessageCodec;
  /** Passes on what waits, so much later: at once unless given. */
  readonly later?: (passOn: () => void, waitMs: number) => void;
  /** Time for reading, to each author its share; everything is read at once unless given. */
  readonly shares?: ReadingShares | undefined;
}

interface Arrived extends Keyed {
  readonly arrivedAtMs: number;
}

export function createMessageRouter(parts: MessageRouterParts): MessageRouter {
  const { self, schedule, carrier, deliver, clock, logger, onAhead, penalisePeer, metrics, findTransaction } =
    parts;
  const { codec = IBF_CODEC, later = (passOn) => passOn() } = parts;
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
  const distant = createFarFutureRoundChanges<Arrived>(DISTANT_LIMITS);
  const own = createLastSentMessages();
  const reading = createMessageReading({ codec, findTransaction, shares: parts.shares });
  /** To be passed on in a moment, by key, to whoever is not known to have it by then. */
  const relays = new Map<string, Relay>();
  /**
   * An author who says more than we remember would else have us all pass on the same words again and again, for as long
   * as the height lasts.
   */
  const relayBudget = createRelayBudget(clock);
  const paths = createRelayPaths();
  let head: Head | undefined;

  /** A message of the height in progress: `settle` hears what became of it, at once or when its author has time. */
  function take(raw: Arrived, current: Head, settle: (fate: ValidationResult) => void): void {
    if (!isValidator(current.tally, self)) {
      settle("notValidating");
      return;
    }
    reading.read(raw, current, (result) => {
      if (result.kind === "unread") {
        // Somebody else's copy may have more time, now or later.
        if (result.fate === "overShare") received.forget(raw.key);
        settle(result.fate);
      } else if (result.outcome.ok) {
        accept(raw, result.outcome.value, current);
        settle("taken");
      } else {
        const { code: reason, message } = result.outcome.error;
        logger.debug(
          { sender: raw.sender, code: raw.code, reason, message },
          "a consensus message is refused",
        );
        settle(reason);
      }
    });
  }

  function accept(
    { sender, code, payload, key, arrivedAtMs }: Arrived,
    message: Authored,
    current: Head,
  ): void {
    paths.took(message, key, sender);
    decline(key, code, payload);
    if (sent.add(key) && relayBudget.take(message, payload.length, current)) {
      const except = [self, sender, message.signed.author];
      relays.set(key, { key, code, payload, message, to: current.tally.validators, except });
      if (relays.size === 1) later(passOn, RELAY_PATIENCE_MS);
      if (relays.size >= RELAYS_LIMIT) passOn();
    }
    metrics?.taken?.(message);
    deliver(message, clock.nowMs() - arrivedAtMs);
  }

  /** Whoever declined it waits longer. */
  function passOn(): void {
    const held: Relay[] = [];
    for (const relay of relays.values()) {
      const { author, payload } = relay.message.signed;
      const needy = needyOf(relay);
      const declined = needy.filter((address) => paths.hasDeclined(address, author, payload.height));
      relayTo(
        relay,
        needy.filter((address) => !declined.includes(address)),
      );
      if (declined.length > 0) held.push({ ...relay, to: declined });
    }
    relays.clear();
    if (held.length > 0)
      later(() => held.forEach(passOnHeld), HELD_SHARE * schedule.requestTimeoutSeconds * 1000);
  }

  function passOnHeld(relay: Relay): void {
    const needy = needyOf(relay).filter((address) => !paths.isPast(address, relay.message));
    relayTo(relay, needy);
    for (const address of needy) paths.forgetDecline(address, relay.message.signed.author);
  }

  /** Whoever has a message meanwhile needs it no more; nor does anybody whose block we have, for that is announced. */
  function needyOf({ key, message, to, except }: Relay): readonly Address[] {
    if (head !== undefined && message.signed.payload.height <= head.header.number) return [];
    return to.filter((address) => !includesBytes(except, address) && !paths.hasBrought(key, address));
  }

  function relayTo({ code, payload, except }: Relay, to: readonly Address[]): void {
    if (to.length === 0) return;
    carrier.send(code, payload, { to, except });
    metrics?.relayed();
  }

  /** Sends a copy back, twice, to those who need not bring us more of that author. */
  function decline(key: string, code: number, payload: Uint8Array): void {
    if (payload.length > DECLINE_BYTES) return;
    const to = paths.takeSpare(key);
    if (to.length === 0) return;
    for (let copy = 0; copy < 2; copy++) carrier.send(code, payload, { to, except: [self, self] });
  }

  function judge(message: Arrived, known: Head, settle: (fate: ValidationResult) => void): void {
    const { key, sender, code, payload } = message;
    if (!received.add(key) && !reading.isAwaited(key, sender)) {
      paths.repeated(key, sender);
      decline(key, code, payload);
      settle("duplicate");
      return;
    }
    const place = codec.peekRoundId(code, payload);
    const current = known.header.number + 1n;
    if (place === undefined) settle(refusalOf(message));
    else if (place.height === current) take(message, known, settle);
    else if (place.height < current) settle("past");
    else settle(keep(message, place.height, known));
  }

  /** What is wrong with a message that cannot even be asked for its place. */
  function refusalOf({ code, payload }: Arrived): ValidationResult {
    const outcome = readToEnd(codec.read(code, payload, { isAuthorAllowed: () => false }));
    return outcome.ok ? "malformed" : outcome.error.code;
  }

  function keep(message: Arrived, height: bigint, { header, tally }: Head): ValidationResult {
    onAhead?.(message.sender, height - 1n);
    const before = future.count;
    const fate = future.add(message, height, header.number + 1n);
    const dropped = before + 1 - future.count;
    if (dropped > 0) metrics?.futureDropped?.(dropped);
    const isWish = message.code === MESSAGE_CODES.roundChange && isValidator(tally, message.sender);
    if (fate === "tooFar" && isWish) distant.note(message, height);
    return fate;
  }

  function receive(message: Arrived): void {
    if (head === undefined) {
      early.add(message, 0n, 0n);
      return;
    }
    judge(message, head, (fate) => settle(message, fate));
  }

  function settle({ sender }: RawMessage, fate: ValidationResult): void {
    metrics?.received(fate);
    // A validator's words may have been made by a liar so that others relay what only we cannot read.
    if (isDecodingDefect(fate) && head !== undefined && !isValidator(head.tally, sender))
      penalisePeer?.(sender);
  }

  return {
    receive(message) {
      // A vote of megabytes is not even worth a hash.
      const limit = isMessageCode(message.code) ? PAYLOAD_LIMITS[message.code] : PAYLOAD_LIMITS[0];
      if (message.payload.length > limit) {
        settle(message, "oversized");
        return;
      }
      const key = codec.keyOf(message.code, message.payload);
      receive({ ...message, key, arrivedAtMs: clock.nowMs() });
    },
    headAdvanced(next) {
      if (head !== undefined && next.header.number <= head.header.number) return;
      head = next;
      reading.clear();
      relayBudget.heightBegan();
      paths.heightBegan();
      own.dropUpTo(next.header.number);
      const height = next.header.number + 1n;
      for (const message of [...distant.takeUpTo(height), ...future.takeUpTo(height)]) {
        take(message, next, (fate) => metrics?.received(fate));
      }
      distant.keepOnlyThoseOf(next.tally.validators);
      early.takeUpTo(0n).forEach(receive);
    },
    multicast(message, validators) {
      // A lone validator's proposal is a whole block, to be spelled and hashed for nobody.
      if (validators.every((validator) => equalBytes(validator, self))) return;
      const { code, payload } = codec.encode(message);
      if (!sent.add(codec.keyOf(code, payload))) return;
      own.add(message.signed.payload, { code, payload });
      carrier.send(code, payload, { to: validators, except: [self] });
    },
    peerConnected(address, say) {
      paths.forgetDecline(address);
      if (head === undefined || equalBytes(address, self) || !isValidator(head.tally, address)) return;
      for (const { code, payload } of own.messages) say(code, payload);
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

/** Of the timeout of round 0: until then who declined a message may have it from others, and there is time left after it. */
const HELD_SHARE = 0.25;

/** Of an author's messages, small ones are enough to decline all. */
const DECLINE_BYTES = 1_024;

interface Relay {
  readonly key: string;
  readonly code: number;
  readonly payload: Uint8Array;
  readonly message: Authored;
  readonly to: readonly Address[];
  readonly except: readonly Address[];
}

function isDecodingDefect(fate: ValidationResult): boolean {
  return DECODING_ERRORS.some((defect) => defect === fate);
}

/**
 * Of each validator that is connected; of its messages the last is kept whatever its size, for a RoundChange may carry the
 * block that was prepared.
 */
const DISTANT_LIMITS = { messagesPerSender: 4, bytesPerSender: 4 * 1024 * 1024, bytes: 64 * 1024 * 1024 };

/** Some dozens of full blocks. */
export const FUTURE_BYTES_LIMIT = 64 * 1024 * 1024;
