import type { SignedMessage } from "../../ibft/message.ts";
import type { Rules } from "../../ibft/state.ts";
import type { Head } from "../../ibft/validatorSet.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import { equalBytes, includesBytes } from "../../primitives/hex.ts";
import type { Carrier } from "../ports.ts";
import type { Keyed } from "./messageReading.ts";
import { RELAY_DELAY_MS, RelayPaths } from "./relayPaths.ts";
import { RelayPolicy } from "./relayPolicy.ts";
import { SeenMessages } from "./seenMessages.ts";
import type { ValidatorNodes } from "./validatorNodes.ts";

interface MessageRelayParts {
  readonly self: Address;
  readonly schedule: Pick<Rules["schedule"], "gossipedHistoryLimit" | "requestTimeoutSeconds">;
  readonly carrier: Carrier;
  readonly clock: Pick<Clock, "nowMs">;
  /** Nodes that speak for validators under other keys. */
  readonly validatorNodes: Pick<ValidatorNodes, "nodes">;
  /** Called for each message that is relayed. */
  readonly onRelayed: () => void;
  /** Runs relaying after a delay. */
  readonly later: (relay: () => void, delayMs: number) => void;
  /** Most bytes of messages held for validators that declined them; DELAYED_BYTES_LIMIT by default. */
  readonly delayedBytesLimit?: number | undefined;
}

/** A message to be relayed. */
interface Relay {
  readonly key: string;
  readonly code: number;
  readonly payload: Uint8Array;
  readonly message: SignedMessage;
  readonly to: readonly Address[];
  readonly except: readonly Address[];
}

/**
 * Relays valid messages of other validators, each once and with the same bytes (ibft2.md#relay-and-buffers).
 *
 *   accepted -> within the author's bounds? -> 30 ms -> to the validators that have not sent it themselves
 *                                                    -> a quarter of a timeout later to those that declined
 *
 * Invariants: the same bytes are sent twice only to decline; messages held for a further delay are bounded in bytes; nothing
 * is relayed once its height is decided.
 */
export class MessageRelay {
  private readonly self: Address;
  private readonly carrier: Carrier;
  private readonly validatorNodes: MessageRelayParts["validatorNodes"];
  private readonly onRelayed: () => void;
  private readonly later: (relay: () => void, delayMs: number) => void;
  private readonly delayedBytesLimit: number;
  private readonly declinedDelayMs: number;
  private readonly sent: SeenMessages;
  private readonly paths = new RelayPaths();
  /**
   * Without this policy, an author of more messages than `sent` remembers could make all validators relay the same ones
   * again and again for as long as the height lasts.
   */
  private readonly policy: RelayPolicy;
  /** Messages to be relayed after a delay, by key, to the validators not known to have them by then. */
  private readonly pending = new Map<string, Relay>();
  /** Messages to be relayed later to validators that declined them, by batch; dropped once the height is decided. */
  private readonly delayed = new Map<number, readonly Relay[]>();
  private batches = 0;
  /** Number of the newest block. */
  private decidedUpTo = -1n;

  constructor(parts: MessageRelayParts) {
    const { self, schedule, carrier, clock, onRelayed } = parts;
    const { later, delayedBytesLimit = DELAYED_BYTES_LIMIT } = parts;
    this.self = self;
    this.carrier = carrier;
    this.validatorNodes = parts.validatorNodes;
    this.onRelayed = onRelayed;
    this.later = later;
    this.delayedBytesLimit = delayedBytesLimit;
    this.declinedDelayMs = DECLINED_DELAY_SHARE * schedule.requestTimeoutSeconds * 1000;
    this.sent = new SeenMessages(schedule.gossipedHistoryLimit);
    this.policy = new RelayPolicy(clock);
  }

  /** Receives the first copy of a valid message of the height after `head`. */
  accepted(received: Keyed, message: SignedMessage, head: Head): void {
    const { key, sender, code, payload } = received;
    this.paths.accepted(message, key, sender);
    this.decline(received);
    if (!this.sent.add(key) || !this.policy.take(message, payload.length, head)) return;
    const except = [this.self, sender, message.signed.author];
    const to = [...head.tally.validators, ...this.validatorNodes.nodes];
    this.pending.set(key, { key, code, payload, message, to, except });
    if (this.pending.size === 1) this.later(() => this.relayPending(), RELAY_DELAY_MS);
    if (this.pending.size >= RELAYS_LIMIT) this.relayPending();
  }

  /** Receives another copy of a message. */
  repeated(copy: Keyed): void {
    this.paths.repeated(copy.key, copy.sender);
    this.decline(copy);
  }

  /** Counts the message as sent. Returns false when it was sent or relayed before. */
  noteSent(key: string): boolean {
    return this.sent.add(key);
  }

  headAdvanced({ header }: Head): void {
    this.decidedUpTo = header.number;
    this.delayed.clear();
    this.policy.heightBegan();
    this.paths.heightBegan();
  }

  peerConnected(address: Address): void {
    this.paths.forgetDecline(address);
  }

  /** Messages remembered as sent, and bytes of those held for validators that declined them. */
  get remembered(): { readonly sent: number; readonly delayedBytes: number } {
    return { sent: this.sent.size, delayedBytes: this.delayedBytes() };
  }

  private delayedBytes(): number {
    let bytes = 0;
    for (const relays of this.delayed.values()) for (const { payload } of relays) bytes += payload.length;
    return bytes;
  }

  /** Relays at once, or after a further delay to validators that declined the author's messages from us. */
  private relayPending(): void {
    const batch: Relay[] = [];
    let heldBytes = this.delayedBytes();
    for (const relay of this.pending.values()) {
      const { author, payload } = relay.message.signed;
      const recipients = this.recipientsOf(relay);
      const isHeld = (address: Address): boolean =>
        heldBytes + relay.payload.length <= this.delayedBytesLimit &&
        this.paths.hasDeclined(address, author, payload.height);
      const to = recipients.filter(isHeld);
      this.relayTo(
        relay,
        recipients.filter((address) => !to.includes(address)),
      );
      if (to.length === 0) continue;
      batch.push({ ...relay, to });
      heldBytes += relay.payload.length;
    }
    for (const relay of this.pending.values()) this.returnToAuthor(relay);
    this.pending.clear();
    if (batch.length === 0) return;
    const id = this.batches++;
    this.delayed.set(id, batch);
    this.later(() => this.relayDelayed(id), this.declinedDelayMs);
  }

  /**
   * Returns a message to its author. An author that is connected to us, and has not sent us its message itself by then, may
   * be another node with the same key: the message reveals that to it (ibft2.md#lost-votes).
   */
  private returnToAuthor({ key, code, payload, message }: Relay): void {
    const { author, payload: about } = message.signed;
    if (payload.length > SMALL_BYTES || about.height <= this.decidedUpTo) return;
    if (this.paths.hasSent(key, author) || equalBytes(author, this.self)) return;
    this.carrier.send(code, payload, { to: [author], except: [this.self] });
  }

  private relayDelayed(id: number): void {
    const batch = this.delayed.get(id) ?? [];
    this.delayed.delete(id);
    for (const relay of batch) {
      const recipients = this.recipientsOf(relay).filter(
        (address) => !this.paths.isPast(address, relay.message),
      );
      this.relayTo(relay, recipients);
      for (const address of recipients) this.paths.forgetDecline(address, relay.message.signed.author);
    }
  }

  /** The validators that may still need the message: none once its block is committed, because blocks are announced. */
  private recipientsOf({ key, message, to, except }: Relay): readonly Address[] {
    if (message.signed.payload.height <= this.decidedUpTo) return [];
    return to.filter((address) => !includesBytes(except, address) && !this.paths.hasSent(key, address));
  }

  private relayTo({ code, payload, except }: Relay, to: readonly Address[]): void {
    if (to.length === 0) return;
    this.carrier.send(code, payload, { to, except });
    this.onRelayed();
  }

  /** Sends a copy back twice to the relayers that are not needed for this author's messages. */
  private decline({ key, code, payload }: Keyed): void {
    if (payload.length > SMALL_BYTES) return;
    const to = this.paths.takeRedundant(key);
    if (to.length === 0) return;
    for (let copy = 0; copy < 2; copy++) this.carrier.send(code, payload, { to, except: [this.self] });
  }
}

/**
 * Most messages held for a delay: more than the validators of one round send. Beyond it, all are relayed without further
 * delay.
 */
const RELAYS_LIMIT = 256;

/**
 * Most bytes of messages held for validators that declined them; beyond it, messages are relayed without the further delay.
 * Otherwise every block proposed during a quarter of a long timeout would be held, and whatever a faulty author sends.
 */
const DELAYED_BYTES_LIMIT = 64 * 1024 * 1024;

/**
 * Share of round 0's timeout in which a validator can get a declined message from others, with time left in the round
 * afterwards.
 */
const DECLINED_DELAY_SHARE = 0.25;

/** Small messages are enough to decline all messages of an author, and to reveal another node with its key to it. */
export const SMALL_BYTES = 1_024;
