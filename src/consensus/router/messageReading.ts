import type { DecodingErrorCode } from "../../ibft/codec/payloadReader.ts";
import type { Authored } from "../../ibft/message.ts";
import { type Head, isMember, type ValidatorSet, validatorSetAfter } from "../../ibft/validatorSet.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes } from "../../primitives/hex.ts";
import type { Result } from "../../primitives/result.ts";
import type { FindTransaction } from "../../types/transaction.ts";
import { maxTransactionsAfter } from "../../types/transactionCount.ts";
import type { RawMessage } from "../buffers/futureMessages.ts";
import { createKnownSigners } from "./knownSigners.ts";
import type { MessageCodec } from "./messageCodec.ts";
import { type NextStep, READ_AT_ONCE, type ReadingAccount, type ReadingShares } from "./readingShares.ts";

/**
 * Decodes messages of the height in progress within time shares. A validator's own messages are charged to an account
 * that no other node can spend; those that it relays are charged to a smaller account for each author. So neither messages
 * forged in another's name nor a relayed flood take the time of honest validators.
 */
export interface MessageReading {
  /**
   * Calls `done` at once or later, with the message or an error. Unread messages end as "past" when another height began in
   * the meantime, "duplicate" when another copy was decoded first, and "overShare" when too many are queued.
   */
  read(message: Keyed, head: Head, done: (result: ReadingResult) => void): void;
  /** Whether copies of this message are being decoded or queued, and none of them is from this sender. */
  isAwaited(key: string, sender: Address): boolean;
  /** Drops everything queued, because another height began. */
  clear(): void;
}

/** A message and its key. */
export interface Keyed extends RawMessage {
  readonly key: string;
}

export type ReadingResult =
  | { readonly kind: "read"; readonly decoded: Result<Authored, DecodingErrorCode> }
  | { readonly kind: "unread"; readonly reason: "past" | "duplicate" | "overShare" };

export interface MessageReadingParts {
  readonly codec: MessageCodec;
  readonly findTransaction?: FindTransaction | undefined;
  /** Everything is read at once when absent. */
  readonly shares?: ReadingShares | undefined;
}

/** Part of the thread's time for one validator's own messages, and how much of it may be used at once. */
const OWN_SHARE = 0.1;
const OWN_BURST_MS = 50;
/** The same for all messages that one node relays; the burst is per author. */
const RELAYED_SHARE = 0.1;
const RELAYED_BURST_MS = 10;

/** Rounds per kind, author, sender and height whose first block is free; later rounds last long enough to be charged. */
const FREE_ROUNDS = 8;

/** Shared by all peers that are not validators. */
const UNTRUSTED: ReadingAccount = { key: "untrusted", share: 0.05, burstMs: 10 };

export function createMessageReading(parts: MessageReadingParts): MessageReading {
  const { codec, findTransaction, shares = READ_AT_ONCE } = parts;
  const known = createKnownSigners();
  /** Senders of the copies that are being decoded or queued, by message key. */
  const pendingSenders = new Map<string, Address[]>();
  /** Rounds of this height with a free block, by kind, author and sender: an honest author has one block in each. */
  const freeRounds = new Map<string, Set<number>>();

  function removeSender({ key, sender }: Keyed): void {
    const senders = (pendingSenders.get(key) ?? []).filter((one) => !equalBytes(one, sender));
    if (senders.length > 0) pendingSenders.set(key, senders);
    else pendingSenders.delete(key);
  }

  /**
   * The first block per author and round from a validator is not charged: one large block is not a flood. The sender is part
   * of the key, because blocks are not signed and one sender must not use up what another has; rounds are bounded, because
   * an author can request any number of them.
   */
  function isFirstBlock({ code, sender }: Keyed, author: Address | undefined, round: number): boolean {
    if (author === undefined) return false;
    const key = `${code} ${toKey(author)}${toKey(sender)}`;
    const rounds = freeRounds.get(key) ?? new Set();
    if (rounds.has(round) || rounds.size >= FREE_ROUNDS) return false;
    freeRounds.set(key, rounds.add(round));
    return true;
  }

  return {
    read(message, head, done) {
      const { key, sender, code, payload } = message;
      const validatorSet = validatorSetAfter(head);
      let author: Address | undefined;
      let account = accountOf(validatorSet, sender);
      const reading = codec.read(code, payload, {
        isAuthorAllowed(address) {
          if (!isMember(validatorSet, address)) return false;
          author = address;
          account = accountOf(validatorSet, sender, address);
          return true;
        },
        validatorSet,
        known,
        maxTransactions: maxTransactionsAfter(head.header),
        ...(findTransaction !== undefined && { findTransaction }),
      });
      let isFree: boolean | undefined;
      const round = codec.peekRoundId(code, payload)?.round ?? 0;
      pendingSenders.set(key, [...(pendingSenders.get(key) ?? []), sender]);
      function end(result: ReadingResult): void {
        removeSender(message);
        done(result);
      }
      const isAccepted = shares.start({
        get account() {
          return account;
        },
        bytes: payload.length,
        step(): NextStep {
          if (!pendingSenders.has(key)) {
            done({ kind: "unread", reason: "duplicate" });
            return "done";
          }
          const { done: isDone, value } = reading.next();
          if (isDone !== true) {
            if (value !== "block") return "charged";
            isFree ??= account !== UNTRUSTED && isFirstBlock(message, author, round);
            return isFree ? "free" : "charged";
          }
          if (value.ok) pendingSenders.delete(key);
          end({ kind: "read", decoded: value });
          return "done";
        },
        dropped: () => end({ kind: "unread", reason: "past" }),
      });
      if (!isAccepted) end({ kind: "unread", reason: "overShare" });
    },
    isAwaited: (key, sender) => {
      const senders = pendingSenders.get(key);
      return senders !== undefined && !senders.some((one) => equalBytes(one, sender));
    },
    clear() {
      freeRounds.clear();
      shares.clear();
    },
  };
}

/** A message is charged to its sender until its author is known. */
function accountOf(validatorSet: ValidatorSet, sender: Address, author = sender): ReadingAccount {
  if (!isMember(validatorSet, sender)) return UNTRUSTED;
  const name = toKey(sender);
  if (equalBytes(author, sender)) return { key: name, share: OWN_SHARE, burstMs: OWN_BURST_MS };
  const share = RELAYED_SHARE / Math.max(validatorSet.validators.length - 1, 1);
  return { key: `${name}${toKey(author)}`, share, burstMs: RELAYED_BURST_MS };
}
