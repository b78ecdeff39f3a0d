import { isMessageCode, PAYLOAD_LIMITS, readToEnd } from "../../ibft/codec/decoding.ts";
import { MESSAGE_CODES } from "../../ibft/codec/encoding.ts";
import { DECODING_ERRORS } from "../../ibft/codec/payloadReader.ts";
import type { Authored } from "../../ibft/message.ts";
import type { Rules } from "../../ibft/state.ts";
import type { Head } from "../../ibft/validatorSet.ts";
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
import { createRelayPaths, RELAY_DELAY_MS } from "./relayPaths.ts";
import { createRelayPolicy } from "./relayPolicy.ts";
import { createSeenMessages } from "./seenMessages.ts";

/**
 * Stands between bytes on the wire and the engine: filters, decodes, buffers and relays messages
 * (ibft2.md#entry-filter, ibft2.md#relay-and-buffers).
 *
 *   bytes -> seen before? -> which height? -> past: dropped
 *                                          -> future: kept undecoded until its height begins
 *                                          -> current: author a validator? -> decoded -> engine
 *                                                                                    \-> relayed, same bytes, after a delay
 *
 * Invariants: a message is relayed to all validators except those known to have it, with a longer delay to those that
 * declined messages of its author from us (relayPaths.ts); the same bytes are sent twice only to decline; only validators'
 * messages are decoded; all buffers are bounded, and so is what is relayed for one author per height. No message makes it
 * throw.
 */
export interface MessageRouter {
  /** Takes an uncompressed payload from the network; the caller must not change it afterwards. */
  receive(message: RawMessage): void;
  /** To be called for a new head, after the engine. Delivers buffered messages of the next height. */
  headAdvanced(head: Head): void;
  /** Sends our own message to every other validator. */
  multicast(message: Authored, validators: readonly Address[]): void;
  /**
   * To be called for a new connection. Sends a validator our last messages of this height again: when several validators
   * start together, messages sent before they were connected are lost, which would cost a round timeout.
   */
  peerConnected(address: Address, send: (code: number, payload: Uint8Array) => void): void;
  /** Messages buffered for future heights, their bytes, and the round changes of heights too far ahead for that buffer. */
  readonly waiting: { readonly messages: number; readonly bytes: number; readonly farFuture: number };
  /** Number of messages remembered as received and as sent, and bytes of those held for validators that declined them. */
  readonly remembered: { readonly received: number; readonly sent: number; readonly delayedBytes: number };
}

/** What happened to a received message; used as a metric label. */
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
  received(result: ValidationResult): void;
  relayed(): void;
  /** Counts a message that is delivered to the engine. */
  taken?(message: Authored): void;
  /** Counts messages of future heights that were not buffered, or were evicted. */
  futureDropped?(count: number): void;
}

export function declareMessageRouterMetrics(metrics: Metrics): MessageRouterMetrics {
  const results = metrics.counter({
    category: "BFT",
    name: "messages_validated_total",
    help: "Consensus messages received, by result",
    labels: ["result"],
  });
  for (const result of VALIDATION_RESULTS) results.with(result);
  const received = metrics.counter({
    category: "BFT",
    name: "messages_received_total",
    help: "Consensus messages of the height in progress, by kind and author",
    labels: ["type", "validator"],
  });
  const futureDropped = metrics.counter({
    category: "BFT",
    name: "future_messages_dropped_total",
    help: "Consensus messages of future heights that were dropped, too far ahead or too many",
  });
  const relayed = metrics.counter({
    category: "BFT",
    name: "messages_relayed_total",
    help: "Consensus messages of other validators that were relayed",
  });
  return {
    received: (result) => results.with(result).increment(),
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
  /** Delivers a message of the height in progress to the engine; `waitedMs` is the time since it arrived. */
  readonly deliver: (message: Authored, waitedMs: number) => void;
  /** Only durations are measured, so any clock will do. */
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  /** Looks up known transactions, so that those of a proposal are not decoded again. */
  readonly findTransaction?: FindTransaction;
  /** Called for a message of a future height: its sender's head may have this number. */
  readonly onAhead?: (sender: Address, number: bigint) => void;
  /** Called for a message that no honest node sends, from a peer that is not a validator. */
  readonly penalisePeer?: (sender: Address) => void;
  readonly metrics?: MessageRouterMetrics | undefined;
  /** IBF/1 by default. */
  readonly codec?: MessageCodec;
  /** Runs relaying after a delay; runs it at once by default. */
  readonly later?: (relay: () => void, delayMs: number) => void;
  /** Bytes of messages that may be held for validators that declined them; DELAYED_BYTES_LIMIT by default. */
  readonly delayedBytesLimit?: number;
  /** Time shares for decoding, by author; everything is decoded at once by default. */
  readonly shares?: ReadingShares | undefined;
}

interface Arrived extends Keyed {
  readonly arrivedAtMs: number;
}

export function createMessageRouter(parts: MessageRouterParts): MessageRouter {
  const { self, schedule, carrier, deliver, clock, logger, onAhead, penalisePeer, metrics, findTransaction } =
    parts;
  const { codec = IBF_CODEC, later = (relay) => relay(), delayedBytesLimit = DELAYED_BYTES_LIMIT } = parts;
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
  /** Validators send their last messages on connecting, which may be before the first `headAdvanced`. */
  const beforeStart = createFutureMessages<Arrived>(limits);
  const farFuture = createFarFutureRoundChanges<Arrived>(FAR_FUTURE_LIMITS);
  const lastSent = createLastSentMessages();
  const reading = createMessageReading({ codec, findTransaction, shares: parts.shares });
  /** Messages to be relayed after a delay, by key, to the validators not known to have them by then. */
  const relays = new Map<string, Relay>();
  /** Messages to be relayed later to validators that declined them, by batch; dropped once the height is decided. */
  const delayed = new Map<number, readonly Relay[]>();
  let batches = 0;
  /**
   * Without it, an author of more messages than `sent` remembers could make all validators relay the same ones again and
   * again for as long as the height lasts.
   */
  const relayPolicy = createRelayPolicy(clock);
  const paths = createRelayPaths();
  let head: Head | undefined;

  /** Decodes a message of the height in progress; calls `settle` at once, or when its author has a share of time. */
  function take(raw: Arrived, current: Head, settle: (result: ValidationResult) => void): void {
    if (!isValidator(current.tally, self)) {
      settle("notValidating");
      return;
    }
    reading.read(raw, current, (result) => {
      if (result.kind === "unread") {
        // A copy from another sender may have a share of time left.
        if (result.reason === "overShare") received.forget(raw.key);
        settle(result.reason);
      } else if (result.decoded.ok) {
        accept(raw, result.decoded.value, current);
        settle("taken");
      } else {
        const { code: reason, message } = result.decoded.error;
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
    paths.accepted(message, key, sender);
    decline(key, code, payload);
    if (sent.add(key) && relayPolicy.take(message, payload.length, current)) {
      const except = [self, sender, message.signed.author];
      relays.set(key, { key, code, payload, message, to: current.tally.validators, except });
      if (relays.size === 1) later(relayPending, RELAY_DELAY_MS);
      if (relays.size >= RELAYS_LIMIT) relayPending();
    }
    metrics?.taken?.(message);
    deliver(message, clock.nowMs() - arrivedAtMs);
  }

  /** Relays at once, or after a further delay to validators that declined the author's messages from us. */
  function relayPending(): void {
    const batch: Relay[] = [];
    let heldBytes = bytesOf([...delayed.values()].flat());
    for (const relay of relays.values()) {
      const { author, payload } = relay.message.signed;
      const recipients = recipientsOf(relay);
      const isHeld = (address: Address): boolean =>
        heldBytes + relay.payload.length <= delayedBytesLimit &&
        paths.hasDeclined(address, author, payload.height);
      const to = recipients.filter(isHeld);
      relayTo(
        relay,
        recipients.filter((address) => !to.includes(address)),
      );
      if (to.length === 0) continue;
      batch.push({ ...relay, to });
      heldBytes += relay.payload.length;
    }
    relays.clear();
    if (batch.length === 0) return;
    const id = batches++;
    delayed.set(id, batch);
    later(() => relayBatch(id), DECLINED_DELAY_SHARE * schedule.requestTimeoutSeconds * 1000);
  }

  function relayBatch(id: number): void {
    const batch = delayed.get(id) ?? [];
    delayed.delete(id);
    batch.forEach(relayDelayed);
  }

  function relayDelayed(relay: Relay): void {
    const recipients = recipientsOf(relay).filter((address) => !paths.isPast(address, relay.message));
    relayTo(relay, recipients);
    for (const address of recipients) paths.forgetDecline(address, relay.message.signed.author);
  }

  /** The validators that may still need the message: none once its block is committed, for blocks are announced. */
  function recipientsOf({ key, message, to, except }: Relay): readonly Address[] {
    if (head !== undefined && message.signed.payload.height <= head.header.number) return [];
    return to.filter((address) => !includesBytes(except, address) && !paths.hasSent(key, address));
  }

  function relayTo({ code, payload, except }: Relay, to: readonly Address[]): void {
    if (to.length === 0) return;
    carrier.send(code, payload, { to, except });
    metrics?.relayed();
  }

  /** Sends a copy back twice to the relayers that are not needed for this author's messages. */
  function decline(key: string, code: number, payload: Uint8Array): void {
    if (payload.length > DECLINE_BYTES) return;
    const to = paths.takeRedundant(key);
    if (to.length === 0) return;
    for (let copy = 0; copy < 2; copy++) carrier.send(code, payload, { to, except: [self, self] });
  }

  function route(message: Arrived, known: Head, settle: (result: ValidationResult) => void): void {
    const { key, sender, code, payload } = message;
    if (!received.add(key) && !reading.isAwaited(key, sender)) {
      paths.repeated(key, sender);
      decline(key, code, payload);
      settle("duplicate");
      return;
    }
    const id = codec.peekRoundId(code, payload);
    const current = known.header.number + 1n;
    if (id === undefined) settle(decodingErrorOf(message));
    else if (id.height === current) take(message, known, settle);
    else if (id.height < current) settle("past");
    else settle(keep(message, id.height, known));
  }

  /** The error of a message whose height and round cannot be read. */
  function decodingErrorOf({ code, payload }: Arrived): ValidationResult {
    const decoded = readToEnd(codec.read(code, payload, { isAuthorAllowed: () => false }));
    return decoded.ok ? "malformed" : decoded.error.code;
  }

  function keep(message: Arrived, height: bigint, { header, tally }: Head): ValidationResult {
    onAhead?.(message.sender, height - 1n);
    const before = future.count;
    const result = future.add(message, height, header.number + 1n);
    const dropped = before + 1 - future.count;
    if (dropped > 0) metrics?.futureDropped?.(dropped);
    const isRoundChange = message.code === MESSAGE_CODES.roundChange && isValidator(tally, message.sender);
    if (result === "tooFar" && isRoundChange) farFuture.add(message, height);
    return result;
  }

  function receive(message: Arrived): void {
    if (head === undefined) {
      beforeStart.add(message, 0n, 0n);
      return;
    }
    route(message, head, (result) => settle(message, result));
  }

  function settle({ sender }: RawMessage, result: ValidationResult): void {
    metrics?.received(result);
    // A faulty validator may produce messages that other validators relay and only we cannot decode.
    if (isDecodingError(result) && head !== undefined && !isValidator(head.tally, sender))
      penalisePeer?.(sender);
  }

  return {
    receive(message) {
      // Checked first, so that an oversized Prepare or Commit is not even hashed.
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
      delayed.clear();
      relayPolicy.heightBegan();
      paths.heightBegan();
      lastSent.dropUpTo(next.header.number);
      const height = next.header.number + 1n;
      for (const message of [...farFuture.takeUpTo(height), ...future.takeUpTo(height)]) {
        take(message, next, (result) => metrics?.received(result));
      }
      farFuture.keepOnlyFrom(next.tally.validators);
      beforeStart.takeUpTo(0n).forEach(receive);
    },
    multicast(message, validators) {
      // Saves a lone validator from encoding and hashing its blocks.
      if (validators.every((validator) => equalBytes(validator, self))) return;
      const { code, payload } = codec.encode(message);
      if (!sent.add(codec.keyOf(code, payload))) return;
      lastSent.add(message.signed.payload, { code, payload });
      carrier.send(code, payload, { to: validators, except: [self] });
    },
    peerConnected(address, send) {
      paths.forgetDecline(address);
      if (head === undefined || equalBytes(address, self) || !isValidator(head.tally, address)) return;
      for (const { code, payload } of lastSent.messages) send(code, payload);
    },
    get waiting() {
      return { messages: future.count, bytes: future.bytes, farFuture: farFuture.count };
    },
    get remembered() {
      const delayedBytes = bytesOf([...delayed.values()].flat());
      return { received: received.size, sent: sent.size, delayedBytes };
    },
  };
}

/** More messages than the validators of one round send; when there are more, all are relayed without further delay. */
const RELAYS_LIMIT = 256;

/**
 * Bytes of messages held for validators that declined them; beyond it, messages are relayed without the further delay. A
 * quarter of a long timeout would otherwise hold every block that is proposed meanwhile, and what a faulty author sends.
 */
const DELAYED_BYTES_LIMIT = 64 * 1024 * 1024;

/** Part of round 0's timeout: time to get a declined message from others, with time left in the round afterwards. */
const DECLINED_DELAY_SHARE = 0.25;

/** Small messages are enough to decline all messages of an author. */
const DECLINE_BYTES = 1_024;

interface Relay {
  readonly key: string;
  readonly code: number;
  readonly payload: Uint8Array;
  readonly message: Authored;
  readonly to: readonly Address[];
  readonly except: readonly Address[];
}

function bytesOf(relays: readonly Relay[]): number {
  return relays.reduce((sum, { payload }) => sum + payload.length, 0);
}

function isDecodingError(result: ValidationResult): boolean {
  return DECODING_ERRORS.some((error) => error === result);
}

/**
 * Per connected validator, and for all. The last message of each is kept at any size, because a RoundChange may include the
 * prepared block.
 */
const FAR_FUTURE_LIMITS = { messagesPerSender: 4, bytesPerSender: 4 * 1024 * 1024, bytes: 64 * 1024 * 1024 };

/** Enough for dozens of full blocks. */
export const FUTURE_BYTES_LIMIT = 64 * 1024 * 1024;
