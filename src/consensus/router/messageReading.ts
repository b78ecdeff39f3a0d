import type { Head } from "../../ibft/input.ts";
import type { Authored } from "../../ibft/message.ts";
import type { DecodingErrorCode } from "../../ibft/strictRlp.ts";
import { isMember, type ValidatorSet, validatorSetAfter } from "../../ibft/validatorSet.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes } from "../../primitives/hex.ts";
import type { Result } from "../../primitives/result.ts";
import type { FindTransaction } from "../../types/transaction.ts";
import type { RawMessage } from "../buffers/futureMessages.ts";
import { createKnownSigners } from "./knownSigners.ts";
import type { MessageCodec } from "./messageCodec.ts";
import { type NextStep, READ_AT_ONCE, type ReadingAccount, type ReadingShares } from "./readingShares.ts";

/**
 * Reads messages of the height in progress, each in the share of time of whom it comes from. A validator pays for its own
 * words from an account that nobody else can spend; what it passes on for others comes from a smaller one for each of
 * them, so that neither words made up in another's name nor a flood that is relayed take the time of the honest.
 */
export interface MessageReading {
  /**
   * `done` hears what became of it, at once or later: the message, or why it is refused. "past" when another height began
   * meanwhile, "duplicate" when another copy was quicker, "overShare" when too much waits.
   */
  read(message: Keyed, head: Head, done: (result: ReadingResult) => void): void;
  /** Whether a copy of this waits to be read, and none of them is this sender's. */
  isAwaited(key: string, sender: Address): boolean;
  /** Another height began. */
  clear(): void;
}

/** A message and what it is known by. */
export interface Keyed extends RawMessage {
  readonly key: string;
}

export type ReadingResult =
  | { readonly kind: "read"; readonly outcome: Result<Authored, DecodingErrorCode> }
  | { readonly kind: "unread"; readonly fate: "past" | "duplicate" | "overShare" };

export interface MessageReadingParts {
  readonly codec: MessageCodec;
  readonly findTransaction?: FindTransaction | undefined;
  /** Everything is read at once when absent. */
  readonly shares?: ReadingShares | undefined;
}

/** Of the thread's time, for what one validator itself says; and how much of it may be taken at once. */
const OWN_SHARE = 0.1;
const OWN_BURST_MS = 50;
/** The same for all that one node passes on, together, where the burst is for what it passes on for one author. */
const RELAYED_SHARE = 0.1;
const RELAYED_BURST_MS = 10;
/** What any transaction needs (yellow paper, G_transaction). */
const LEAST_GAS = 21_000;
/** The gas limit doubles where London begins; before that a transaction may get half of its gas back. */
const MOST_GROWTH = 3;
/** Whatever the gas limit allows: as many as take a second or two to decode. */
const MOST_TRANSACTIONS = 262_144;

/** Of one kind, author and sender, in one height: whoever comes so far has time. */
const ROUNDS_OPENED = 8;

/** For those who are no validators, all together. */
const STRANGERS: ReadingAccount = { key: "strangers", share: 0.05, burstMs: 10 };

export function createMessageReading(parts: MessageReadingParts): MessageReading {
  const { codec, findTransaction, shares = READ_AT_ONCE } = parts;
  const known = createKnownSigners();
  /** Senders of the copies that are being read or wait for it, by key. */
  const underWay = new Map<string, Address[]>();
  /** By kind, author and sender, the rounds of this height whose block was opened: an honest author has one in each. */
  const opened = new Map<string, Set<number>>();

  function leave({ key, sender }: Keyed): void {
    const senders = (underWay.get(key) ?? []).filter((one) => !equalBytes(one, sender));
    if (senders.length > 0) underWay.set(key, senders);
    else underWay.delete(key);
  }

  /**
   * The first block of its author and round that a validator brings is opened for nothing: a large block is no flood. Blocks are
   * not signed, so nobody uses up what is another's; and wishes may be for as many rounds as their author likes.
   */
  function opensForNothing({ code, sender }: Keyed, author: Address | undefined, round: number): boolean {
    if (author === undefined) return false;
    const whose = `${code} ${toKey(author)}${toKey(sender)}`;
    const rounds = opened.get(whose) ?? new Set();
    if (rounds.has(round) || rounds.size >= ROUNDS_OPENED) return false;
    opened.set(whose, rounds.add(round));
    return true;
  }

  return {
    read(message, head, done) {
      const { key, sender, code, payload } = message;
      const validatorSet = validatorSetAfter(head);
      let author: Address | undefined;
      let account = accountOf(validatorSet, sender);
      const reading = codec.read(code, payload, {
        isAuthorAllowed(by) {
          if (!isMember(validatorSet, by)) return false;
          author = by;
          account = accountOf(validatorSet, sender, by);
          return true;
        },
        validatorSet,
        known,
        maxTransactions: maxTransactionsAfter(head),
        ...(findTransaction !== undefined && { findTransaction }),
      });
      let isOpenedForNothing: boolean | undefined;
      const round = codec.peekRoundId(code, payload)?.round ?? 0;
      underWay.set(key, [...(underWay.get(key) ?? []), sender]);
      function end(result: ReadingResult): void {
        leave(message);
        done(result);
      }
      const isTaken = shares.start({
        get account() {
          return account;
        },
        bytes: payload.length,
        step(): NextStep {
          if (!underWay.has(key)) {
            done({ kind: "unread", fate: "duplicate" });
            return "done";
          }
          const { done: isDone, value } = reading.next();
          if (isDone !== true) {
            if (value !== "block") return "charged";
            isOpenedForNothing ??= account !== STRANGERS && opensForNothing(message, author, round);
            return isOpenedForNothing ? "free" : "charged";
          }
          if (value.ok) underWay.delete(key);
          end({ kind: "read", outcome: value });
          return "done";
        },
        dropped: () => end({ kind: "unread", fate: "past" }),
      });
      if (!isTaken) end({ kind: "unread", fate: "overShare" });
    },
    isAwaited: (key, sender) => {
      const senders = underWay.get(key);
      return senders !== undefined && !senders.some((one) => equalBytes(one, sender));
    },
    clear() {
      opened.clear();
      shares.clear();
    },
  };
}

function maxTransactionsAfter({ header }: Head): number {
  return Math.min(Math.ceil((MOST_GROWTH * Number(header.gasLimit)) / LEAST_GAS), MOST_TRANSACTIONS);
}

/** Until its author is known, a message is its sender's. */
function accountOf(validatorSet: ValidatorSet, sender: Address, author = sender): ReadingAccount {
  if (!isMember(validatorSet, sender)) return STRANGERS;
  const name = toKey(sender);
  if (equalBytes(author, sender)) return { key: name, share: OWN_SHARE, burstMs: OWN_BURST_MS };
  const share = RELAYED_SHARE / Math.max(validatorSet.validators.length - 1, 1);
  return { key: `${name}${toKey(author)}`, share, burstMs: RELAYED_BURST_MS };
}
