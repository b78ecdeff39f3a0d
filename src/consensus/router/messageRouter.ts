import { isMessageCode, PAYLOAD_LIMITS, readToEnd } from "../../ibft/codec/decoding.ts";
import { MESSAGE_CODES } from "../../ibft/codec/encoding.ts";
import type { SignedMessage } from "../../ibft/message.ts";
import type { Rules } from "../../ibft/state.ts";
import type { Head } from "../../ibft/validatorSet.ts";
import { isValidator } from "../../ibft/validatorVotes.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import { equalBytes, includesBytes } from "../../primitives/hex.ts";
import type { FindTransaction } from "../../types/transaction.ts";
import type { RawMessage } from "../buffers/futureMessages.ts";
import { LastSentMessages } from "../buffers/lastSentMessages.ts";
import { OtherHeights } from "../buffers/otherHeights.ts";
import type { SignedTimes } from "../monitor/signedTimes.ts";
import type { Carrier } from "../ports.ts";
import { type KeyNotice, NOTICE_HEIGHT } from "../sharedKey/notice.ts";
import { IBF_CODEC, type MessageCodec } from "./messageCodec.ts";
import { MessageLog } from "./messageLog.ts";
import { type Keyed, MessageReading } from "./messageReading.ts";
import { MessageRelay, SMALL_BYTES } from "./messageRelay.ts";
import { NoticeRelay } from "./noticeRelay.ts";
import type { ReadingShares } from "./readingShares.ts";
import { isDecodingError, type MessageRouterMetrics, type ValidationResult } from "./routerMetrics.ts";
import { SeenMessages } from "./seenMessages.ts";
import { ValidatorNodes } from "./validatorNodes.ts";

interface MessageRouterParts {
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
  /**
   * True when this node's key is not its validator's, so that others recognise it as the validator's node only by a message.
   */
  readonly hasOtherNodeKey: boolean;
  /** Delivers a message of the height in progress to the engine; `waitedMs` is the time since it arrived. */
  readonly deliver: (message: SignedMessage, waitedMs: number) => void;
  /** Only durations are measured, so any clock will do. */
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  /** Receives a validator's notice of a shared key; returns whether it is news. */
  readonly judgeNotice: (notice: KeyNotice) => boolean;
  /** Messages of a validator at the height in progress. */
  readonly messagesBy: (author: Address) => readonly SignedMessage[];
  /** Looks up known transactions, so that those of a proposal are not decoded again. */
  readonly findTransaction: FindTransaction;
  /** Called for a message of a future height: its sender's head may have this number. */
  readonly onAhead: (sender: Address, number: bigint) => void;
  /**
   * Receives proposals, including those of the first rounds of later heights while it needs them: they are then read at
   * once, and also kept.
   */
  readonly signedTimes: Pick<SignedTimes, "isSampling" | "received">;
  /** Called for a message that no honest node sends, from a peer that is not a validator. */
  readonly penalisePeer: (sender: Address) => void;
  readonly metrics?: MessageRouterMetrics | undefined;
  /** Codec of the messages; IBF/1 by default. */
  readonly codec?: MessageCodec;
  /** Runs relaying after a delay. */
  readonly later: (relay: () => void, delayMs: number) => void;
  /** Most bytes of messages held for validators that declined them; DELAYED_BYTES_LIMIT by default. */
  readonly delayedBytesLimit?: number;
  /** Time shares for decoding, by author. */
  readonly shares: ReadingShares;
}

interface Arrived extends Keyed {
  readonly arrivedAtMs: number;
}

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
export class MessageRouter {
  private readonly parts: MessageRouterParts;
  /** Nodes that speak for validators under other keys. */
  readonly validatorNodes: ValidatorNodes = new ValidatorNodes();
  private readonly codec: MessageCodec;
  private readonly received: SeenMessages;
  private readonly otherHeights: OtherHeights<Arrived>;
  private readonly lastSent = new LastSentMessages();
  private readonly reading: MessageReading;
  private readonly relay: MessageRelay;
  private readonly messageLog: MessageLog;
  private readonly notices: NoticeRelay;
  private head: Head | undefined;

  constructor(parts: MessageRouterParts) {
    const { schedule, metrics, codec = IBF_CODEC, findTransaction, shares } = parts;
    this.parts = parts;
    this.codec = codec;
    this.messageLog = new MessageLog(parts.logger);
    this.received = new SeenMessages(schedule.duplicateMessageLimit);
    this.otherHeights = new OtherHeights(schedule, (count) => metrics?.futureDropped?.(count));
    const { validatorNodes } = this;
    const isValidatorNode = (node: Address): boolean => validatorNodes.has(node);
    this.reading = new MessageReading({ codec, findTransaction, shares, isValidatorNode });
    this.relay = new MessageRelay({ ...parts, validatorNodes, onRelayed: () => metrics?.relayed() });
    const { judgeNotice: judge, clock, carrier } = parts;
    this.notices = new NoticeRelay({
      ...{ codec, carrier, clock, judge },
      isValidator: (address) => this.head !== undefined && isValidator(this.head.tally, address),
    });
  }

  /** Receives an uncompressed payload from the network; the caller must not change it afterwards. */
  receive(message: RawMessage): void {
    // The size is checked first, so that an oversized Prepare or Commit is not even hashed.
    const limit = isMessageCode(message.code) ? PAYLOAD_LIMITS[message.code] : PAYLOAD_LIMITS[0];
    if (message.payload.length > limit) {
      this.settle(message, "oversized");
      return;
    }
    const key = this.codec.keyOf(message.code, message.payload);
    const arrived = { ...message, key, arrivedAtMs: this.parts.clock.nowMs() };
    if (this.head === undefined) this.otherHeights.addBeforeStart(arrived);
    else this.route(arrived, this.head);
  }

  /** It is a field, because it is passed on without its router. */
  readonly headAdvanced = (next: Head): void => {
    if (this.head !== undefined && next.header.number <= this.head.header.number) return;
    this.head = next;
    this.messageLog.headAdvanced(next.header.number);
    this.reading.clear();
    this.relay.headAdvanced(next);
    this.lastSent.dropUpTo(next.header.number);
    this.validatorNodes.retain(next.tally.validators);
    for (const message of this.otherHeights.takeAfter(next)) {
      this.take(message, next, (result) => this.noteResult(result));
    }
    for (const message of this.otherHeights.takeBeforeStart()) this.route(message, next);
  };

  /** Sends our own message to every other validator. */
  multicast(message: SignedMessage, validators: readonly Address[]): void {
    const { self, carrier } = this.parts;
    // This saves a lone validator from encoding and hashing its blocks.
    if (validators.every((validator) => equalBytes(validator, self))) return;
    const { code, payload } = this.codec.encode(message);
    this.messageLog.sent(message);
    if (!this.relay.noteSent(this.codec.keyOf(code, payload))) return;
    this.lastSent.add(message.signed.payload, { code, payload });
    const to = [...validators, ...this.validatorNodes.nodes];
    carrier.send(code, payload, { to, except: [self] });
    this.introduce(code, payload, to);
  }

  /** Sends our own notice of a shared key to every connected node (noticeRelay.ts). */
  sendNotice(message: SignedMessage): void {
    this.notices.send(message);
  }

  /**
   * Must be called for each new connection. Sends a validator our last messages of this height again: when several
   * validators start together, messages sent before they were connected are lost, which would cost a round timeout. Also
   * returns the validator's own messages of this height, which reveal to it that it has lost votes, or that its key is in
   * use elsewhere.
   */
  peerConnected(address: Address, send: (code: number, payload: Uint8Array) => void): void {
    this.relay.peerConnected(address);
    this.notices.greet(send);
    if (this.head === undefined || equalBytes(address, this.parts.self)) return;
    const isVoting = isValidator(this.head.tally, address) || this.validatorNodes.has(address);
    if (!isVoting && !this.parts.hasOtherNodeKey) return;
    for (const { code, payload } of this.lastSent.messages)
      if (isVoting || payload.length <= SMALL_BYTES) send(code, payload);
    const authors = [address, ...this.validatorNodes.validatorsOf(address)];
    for (const message of authors.flatMap((author) => this.parts.messagesBy(author))) {
      const { code, payload } = this.codec.encode(message);
      if (payload.length <= SMALL_BYTES) send(code, payload);
    }
  }

  /** Messages buffered for future heights, their bytes, and the round changes of heights too far ahead for that buffer. */
  get waiting(): { readonly messages: number; readonly bytes: number; readonly farFuture: number } {
    return this.otherHeights.waiting;
  }

  /** Number of messages remembered as received and as sent, and bytes of those held for validators that declined them. */
  get remembered(): { readonly received: number; readonly sent: number; readonly delayedBytes: number } {
    return { received: this.received.size, ...this.relay.remembered };
  }

  /** Sends a small message of our own to all other nodes: one may be the node of a validator that does not know us yet. */
  private introduce(code: number, payload: Uint8Array, known: readonly Address[]): void {
    const { hasOtherNodeKey, carrier, self } = this.parts;
    if (!hasOtherNodeKey || payload.length > SMALL_BYTES) return;
    const to = (carrier.connected ?? []).filter((address) => !includesBytes(known, address));
    if (to.length > 0) carrier.send(code, payload, { to, except: [self] });
  }

  private route(message: Arrived, head: Head): void {
    const { key, sender, code, payload } = message;
    const id = this.codec.peekRoundId(code, payload);
    if (id?.height === NOTICE_HEIGHT) {
      this.notices.receive(message);
      this.settle(message, "stale");
      return;
    }
    if (!this.received.add(key) && !this.reading.isAwaited(key, sender)) {
      this.relay.repeated(message);
      this.settle(message, "duplicate");
      return;
    }
    const current = head.header.number + 1n;
    if (id === undefined) this.settle(message, this.decodingErrorOf(message));
    else if (id.height === current) this.take(message, head, (result) => this.settle(message, result));
    else if (id.height < current) this.settle(message, "stale");
    else {
      this.parts.onAhead(sender, id.height - 1n);
      if (code === MESSAGE_CODES.proposal && id.round === 0) this.readTime(message, head);
      this.settle(message, this.otherHeights.add(message, id.height, head));
    }
  }

  /** The error of a message whose height and round cannot be read. */
  private decodingErrorOf({ code, payload }: Arrived): ValidationResult {
    const decoded = readToEnd(this.codec.read(code, payload, { isAuthorAllowed: () => false }));
    return decoded.ok ? "malformed" : decoded.error.code;
  }

  /** Decodes a message of the height in progress; calls `settle` at once, or when its author has a share of time. */
  private take(raw: Arrived, head: Head, settle: (result: ValidationResult) => void): void {
    if (!isValidator(head.tally, this.parts.self)) {
      settle("notValidating");
      return;
    }
    this.reading.read(raw, head, (result) => {
      if (result.kind === "unread") {
        // A copy from another sender may have a share of time left.
        if (result.reason === "overBudget") this.received.forget(raw.key);
        settle(result.reason);
      } else if (result.decoded.ok) {
        this.accept(raw, result.decoded.value, head);
        settle("accepted");
      } else {
        const { code: reason, message } = result.decoded.error;
        this.parts.logger.often("debug", "a consensus message is refused", () => ({
          sender: raw.sender,
          code: raw.code,
          reason,
          message,
        }));
        settle(reason);
      }
    });
  }

  private readTime(raw: Arrived, head: Head): void {
    const { signedTimes, clock } = this.parts;
    if (!signedTimes.isSampling) return;
    this.reading.readLater(raw, head, (result) => {
      if (result.kind === "read" && result.decoded.ok)
        signedTimes.received(result.decoded.value, clock.nowMs() - raw.arrivedAtMs);
    });
  }

  private accept(arrived: Arrived, message: SignedMessage, head: Head): void {
    const { deliver, metrics, clock } = this.parts;
    this.learnValidatorNode(arrived.sender, message.signed.author, head);
    this.relay.accepted(arrived, message, head);
    metrics?.accepted?.(message);
    this.messageLog.accepted(message);
    deliver(message, clock.nowMs() - arrived.arrivedAtMs);
  }

  private learnValidatorNode(sender: Address, author: Address, { tally }: Head): void {
    const { self, carrier } = this.parts;
    if (isValidator(tally, sender) || equalBytes(author, self)) return;
    if (!includesBytes(carrier.connected ?? [], author)) this.validatorNodes.learn(author, sender);
  }

  private noteResult(result: ValidationResult): void {
    this.parts.metrics?.received(result);
    this.messageLog.received(result);
  }

  private settle({ sender }: RawMessage, result: ValidationResult): void {
    const { penalisePeer } = this.parts;
    this.noteResult(result);
    // A faulty validator may produce messages that other validators relay and only we cannot decode.
    if (!isDecodingError(result) || this.head === undefined) return;
    if (!isValidator(this.head.tally, sender) && !this.validatorNodes.has(sender)) penalisePeer(sender);
  }
}
