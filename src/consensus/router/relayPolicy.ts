import { withRound } from "../../ibft/candidate.ts";
import type { SignedMessage } from "../../ibft/message.ts";
import { findMessageError } from "../../ibft/messageRules.ts";
import { type Head, validatorSetAfter } from "../../ibft/validatorSet.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Clock } from "../../primitives/clock.ts";
import { TokenBucket, type TokenBucketLimits } from "../../primitives/tokenBucket.ts";

/**
 * Most messages of one author relayed per height. An honest author sends four in a round, and each round lasts twice as long
 * as the one before.
 */
const RELAYS_OF_AUTHOR = 256;
/** Most different messages relayed per kind and round: a validator that restarts without a vote log may send another one. */
const VARIANTS = 4;
/** A larger message contains a block, or the certificates of dozens of validators. */
const LARGE_RELAY_BYTES = 64 * 1024;
/** Burst: a Proposal and a RoundChange of the largest size. */
const BURST_BYTES = 32 * 1024 * 1024;
/** Rate: a block of a few MiB every few seconds. */
const BYTES_PER_SECOND = 1024 * 1024;

const BYTES: TokenBucketLimits = { capacity: BURST_BYTES, perMs: BYTES_PER_SECOND / 1000, maxDebt: 0 };

interface Account {
  readonly bytes: TokenBucket;
  messages: number;
  /** Messages relayed at this height, by size class, kind and round. */
  readonly relayed: Map<string, number>;
}

/**
 * Bounds the messages relayed for each author, so that a faulty validator cannot make all others fill their connections.
 *
 * Only valid messages are relayed, and a bounded number per author and height. An author has a few of each kind and round:
 * neither certificates nor the encoding of a signature are signed, so another node can produce variants of a message, and
 * these must not use up the author's allowance. Large messages contain a proposed or a prepared block: an author has one of
 * each kind and round, within a token bucket whose burst fits the largest messages of one round. A message that is not
 * relayed still reaches the nodes that are connected to its author.
 */
export class RelayPolicy {
  private readonly clock: Pick<Clock, "nowMs">;
  private readonly accounts = new Map<string, Account>();

  constructor(clock: Pick<Clock, "nowMs">) {
    this.clock = clock;
  }

  /** Whether the message, of the height after `head`, may be relayed; counts it if so. */
  take(message: SignedMessage, bytes: number, head: Head): boolean {
    const { author, payload } = message.signed;
    const account = this.accountOf(author);
    const isLarge = bytes > LARGE_RELAY_BYTES;
    const key = `${isLarge} ${message.kind} ${payload.round}`;
    const variants = account.relayed.get(key) ?? 0;
    if (account.messages >= RELAYS_OF_AUTHOR || variants >= (isLarge ? 1 : VARIANTS)) return false;
    if (isLarge && account.bytes.refill(this.clock.nowMs()) < bytes) return false;
    if (findMessageError(validatorSetAfter(head), withRound, message) !== undefined) return false;
    account.messages++;
    account.relayed.set(key, variants + 1);
    if (isLarge) account.bytes.spend(bytes);
    return true;
  }

  heightBegan(): void {
    const nowMs = this.clock.nowMs();
    for (const [key, account] of this.accounts) {
      // A full bucket equals a new one; the author may no longer be a validator.
      if (account.bytes.refill(nowMs) === BURST_BYTES) this.accounts.delete(key);
      account.messages = 0;
      account.relayed.clear();
    }
  }

  private accountOf(author: Address): Account {
    const key = toKey(author);
    const known = this.accounts.get(key);
    if (known !== undefined) return known;
    const bytes = new TokenBucket(BYTES, this.clock.nowMs());
    const opened = { bytes, messages: 0, relayed: new Map<string, number>() };
    this.accounts.set(key, opened);
    return opened;
  }
}
