import type { DecodingErrorCode } from "../../ibft/codec/payloadReader.ts";
import type { Reading } from "../../ibft/codec/signedReader.ts";
import type { SignedMessage } from "../../ibft/message.ts";
import { type Head, isMember, type ValidatorSet, validatorSetAfter } from "../../ibft/validatorSet.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes, includesBytes } from "../../primitives/hex.ts";
import type { Result } from "../../primitives/result.ts";
import type { FindTransaction } from "../../types/transaction.ts";
import { maxTransactionsAfter } from "../../types/transactionCount.ts";
import type { RawMessage } from "../buffers/futureMessages.ts";
import { createKnownSigners } from "./knownSigners.ts";
import type { MessageCodec } from "./messageCodec.ts";
import type { NextStep, ReadingAccount, ReadingShares } from "./readingShares.ts";

/** A message and its key. */
export interface Keyed extends RawMessage {
  readonly key: string;
}

export type ReadingResult =
  | { readonly kind: "read"; readonly decoded: Result<SignedMessage, DecodingErrorCode> }
  | { readonly kind: "unread"; readonly reason: "stale" | "duplicate" | "overBudget" };

interface MessageReadingParts {
  readonly codec: MessageCodec;
  readonly findTransaction: FindTransaction;
  /** Time shares for decoding. */
  readonly shares: ReadingShares;
  /** Whether a node speaks for a validator under another key. */
  readonly isValidatorNode: (node: Address) => boolean;
}

/** Share of the thread's time for one validator's own messages, and the largest burst. */
const OWN_SHARE = 0.1;
const OWN_BURST_MS = 50;
/** The same limits for all messages that one node relays; the burst is per author. */
const RELAYED_SHARE = 0.1;
const RELAYED_BURST_MS = 10;

/** The same share for all nodes that speak for validators under other keys. */
const VALIDATOR_NODES_SHARE = 0.1;

/**
 * Number of rounds per kind, author, sender and height whose first block is free; later rounds last long enough to be
 * charged.
 */
const FREE_ROUNDS = 8;

/** Account shared by all peers that are not validators. */
const UNTRUSTED: ReadingAccount = { key: "untrusted", share: 0.05, burstMs: 10 };

/**
 * Decodes messages of the height in progress within time shares. A validator's own messages are charged to an account that
 * no other node can spend; those that it relays are charged to a smaller account for each author. So neither messages forged
 * in another's name nor a relayed flood use up the time of honest validators.
 */
export class MessageReading {
  private readonly codec: MessageCodec;
  private readonly findTransaction: FindTransaction;
  private readonly shares: ReadingShares;
  private readonly isValidatorNode: (node: Address) => boolean;
  private readonly known = createKnownSigners();
  private readonly copies = new UnreadCopies();
  private readonly freeBlocks = new FreeBlocks();

  constructor({ codec, findTransaction, shares, isValidatorNode }: MessageReadingParts) {
    this.isValidatorNode = isValidatorNode;
    this.codec = codec;
    this.findTransaction = findTransaction;
    this.shares = shares;
  }

  /**
   * Calls `done` now or later, with the message or an error. Unread messages end as "stale" when another height has begun in
   * the meantime, "duplicate" when another copy was decoded first, and "overBudget" when too many are queued.
   */
  read(message: Keyed, head: Head, done: (result: ReadingResult) => void): void {
    this.readWith(
      message,
      { head, validatorSet: validatorSetAfter(head), freeBlocks: this.freeBlocks },
      done,
    );
  }

  /**
   * Reads a message of a later height whose author is a validator of the height in progress: its proposer role and its
   * certificates are not checked. Its block is not free, so that those of the height in progress stay free.
   */
  readLater(message: Keyed, head: Head, done: (result: ReadingResult) => void): void {
    this.readWith(message, { head, validatorSet: validatorSetAfter(head), freeBlocks: undefined }, done);
  }

  private readWith(
    message: Keyed,
    { head, validatorSet, freeBlocks }: ReadingContext,
    done: (result: ReadingResult) => void,
  ): void {
    const { copies } = this;
    const { key, sender, code, payload } = message;
    let author: Address | undefined;
    const isForValidator = !isMember(validatorSet, sender) && this.isValidatorNode(sender);
    let account = isForValidator
      ? validatorNodeAccount(validatorSet, sender)
      : accountOf(validatorSet, sender);
    const judgedBy = freeBlocks === undefined ? undefined : validatorSet;
    const reading = this.decode(message, head, { validatorSet, judgedBy }, (address) => {
      author = address;
      if (!isForValidator) account = accountOf(validatorSet, sender, address);
    });
    let isFree: boolean | undefined;
    const round = this.codec.peekRoundId(code, payload)?.round ?? 0;
    copies.add(key, sender);
    function end(result: ReadingResult): void {
      copies.remove(key, sender);
      done(result);
    }
    const isAccepted = this.shares.start({
      get account() {
        return account;
      },
      bytes: payload.length,
      step(): NextStep {
        if (!copies.has(key)) {
          done({ kind: "unread", reason: "duplicate" });
          return "done";
        }
        const { done: isDone, value } = reading.next();
        if (isDone !== true) {
          if (value !== "block") return "charged";
          isFree ??= account !== UNTRUSTED && freeBlocks?.take(message, author, round) === true;
          return isFree ? "free" : "charged";
        }
        if (value.ok) copies.forget(key);
        end({ kind: "read", decoded: value });
        return "done";
      },
      dropped: () => end({ kind: "unread", reason: "stale" }),
    });
    if (!isAccepted) end({ kind: "unread", reason: "overBudget" });
  }

  /** Whether copies of this message are being decoded or queued, and none of them is from this sender. */
  isAwaited(key: string, sender: Address): boolean {
    return this.copies.has(key) && !this.copies.isFrom(key, sender);
  }

  /** Drops everything queued, because another height began. */
  clear(): void {
    this.freeBlocks.clear();
    this.shares.clear();
  }

  private decode(
    { code, payload }: Keyed,
    head: Head,
    {
      validatorSet,
      judgedBy,
    }: { readonly validatorSet: ValidatorSet; readonly judgedBy: ValidatorSet | undefined },
    onAuthor: (author: Address) => void,
  ): Reading<Result<SignedMessage, DecodingErrorCode>> {
    return this.codec.read(code, payload, {
      isAuthorAllowed(author) {
        if (!isMember(validatorSet, author)) return false;
        onAuthor(author);
        return true;
      },
      ...(judgedBy !== undefined && { validatorSet: judgedBy }),
      known: this.known,
      maxTransactions: maxTransactionsAfter(head.header),
      findTransaction: this.findTransaction,
    });
  }
}

interface ReadingContext {
  readonly head: Head;
  readonly validatorSet: ValidatorSet;
  readonly freeBlocks: FreeBlocks | undefined;
}

/** The senders of the copies of each message that are being decoded or queued, by message key. */
class UnreadCopies {
  private readonly senders = new Map<string, readonly Address[]>();

  has(key: string): boolean {
    return this.senders.has(key);
  }

  isFrom(key: string, sender: Address): boolean {
    return includesBytes(this.senders.get(key) ?? [], sender);
  }

  add(key: string, sender: Address): void {
    this.senders.set(key, [...(this.senders.get(key) ?? []), sender]);
  }

  remove(key: string, sender: Address): void {
    const others = (this.senders.get(key) ?? []).filter((one) => !equalBytes(one, sender));
    if (others.length > 0) this.senders.set(key, others);
    else this.senders.delete(key);
  }

  /** Forgets all copies: one of them was decoded. */
  forget(key: string): void {
    this.senders.delete(key);
  }
}

/**
 * The first block per author and round from a validator is not charged: one large block is not a flood. The sender is part
 * of the key, because blocks are not signed and one sender must not use up another's free block; rounds are bounded, because
 * an author can request any number of them.
 */
class FreeBlocks {
  /** Rounds of this height with a free block, by kind, author and sender: an honest author has one block in each. */
  private readonly roundsOf = new Map<string, Set<number>>();

  /** Whether the block is free; if so, it is the author's only free one of this kind and round from this sender. */
  take({ code, sender }: Keyed, author: Address | undefined, round: number): boolean {
    if (author === undefined) return false;
    const key = `${code} ${toKey(author)}${toKey(sender)}`;
    const rounds = this.roundsOf.get(key) ?? new Set();
    if (rounds.has(round) || rounds.size >= FREE_ROUNDS) return false;
    this.roundsOf.set(key, rounds.add(round));
    return true;
  }

  clear(): void {
    this.roundsOf.clear();
  }
}

/**
 * The account of a node that sends for a validator under another key. That is not proven, so the node cannot spend the
 * validator's time.
 */
function validatorNodeAccount({ validators }: ValidatorSet, node: Address): ReadingAccount {
  return {
    key: `via${toKey(node)}`,
    share: VALIDATOR_NODES_SHARE / validators.length,
    burstMs: RELAYED_BURST_MS,
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
