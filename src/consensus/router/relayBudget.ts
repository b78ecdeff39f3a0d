import { withRound } from "../../ibft/candidate.ts";
import type { Head } from "../../ibft/input.ts";
import type { Authored } from "../../ibft/message.ts";
import { findMessageError } from "../../ibft/messageRules.ts";
import { validatorSetAfter } from "../../ibft/validatorSet.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Clock } from "../../primitives/clock.ts";

/**
 * How much is passed on for each author, so that a liar cannot have all others fill their connections for it.
 *
 * A message is passed on only when nothing is wrong with it, and so many in a height. Of a kind and round an author has a few:
 * neither certificates nor the spelling of a signature are signed, and whoever changes those of another must not use up what
 * is the other's. A large message holds the block of a proposer, or one that was prepared, and not just any bytes. Of those
 * an author has one of each kind and round, and as many bytes as the largest messages of a round have at once, and later as
 * many as come in while rounds become longer. What is not passed on reaches those who are connected with its author all the
 * same.
 */
export interface RelayBudget {
  /** Whether the message may be passed on, which is counted. It belongs to the height after `head`. */
  take(message: Authored, bytes: number, head: Head): boolean;
  heightBegan(): void;
}

/** In one height. An honest author says four things in a round, and the rounds become longer and longer. */
const RELAYS_OF_AUTHOR = 256;
/** In one place: who forgot what it said, in a restart, may say something else. */
const VARIANTS = 4;
/** What is longer holds a block, or the certificates of dozens of validators. */
const LARGE_RELAY_BYTES = 64 * 1024;
/** A Proposal and a RoundChange of the largest size. */
const BURST_BYTES = 32 * 1024 * 1024;
/** A block of a few MiB every few seconds. */
const BYTES_PER_SECOND = 1024 * 1024;

interface Account {
  leftBytes: number;
  countedMs: number;
  messages: number;
  /** How many were passed on in this height, by size, kind and round. */
  readonly places: Map<string, number>;
}

export function createRelayBudget(clock: Pick<Clock, "nowMs">): RelayBudget {
  const accounts = new Map<string, Account>();

  function refill(account: Account): void {
    const nowMs = clock.nowMs();
    const gainedBytes = (Math.max(nowMs - account.countedMs, 0) / 1000) * BYTES_PER_SECOND;
    account.leftBytes = Math.min(account.leftBytes + gainedBytes, BURST_BYTES);
    account.countedMs = nowMs;
  }

  function accountOf(author: Address): Account {
    const key = toKey(author);
    const known = accounts.get(key);
    if (known !== undefined) return known;
    const opened = {
      leftBytes: BURST_BYTES,
      countedMs: clock.nowMs(),
      messages: 0,
      places: new Map<string, number>(),
    };
    accounts.set(key, opened);
    return opened;
  }

  return {
    take(message, bytes, head) {
      const { author, payload } = message.signed;
      const account = accountOf(author);
      const isLarge = bytes > LARGE_RELAY_BYTES;
      const place = `${isLarge} ${message.kind} ${payload.round}`;
      const variants = account.places.get(place) ?? 0;
      if (account.messages >= RELAYS_OF_AUTHOR || variants >= (isLarge ? 1 : VARIANTS)) return false;
      refill(account);
      if (isLarge && account.leftBytes < bytes) return false;
      if (findMessageError(validatorSetAfter(head), withRound, message) !== undefined) return false;
      account.messages++;
      account.places.set(place, variants + 1);
      if (isLarge) account.leftBytes -= bytes;
      return true;
    },
    heightBegan() {
      for (const [key, account] of accounts) {
        refill(account);
        // Who has all of its share is met anew; it may be no validator any more.
        if (account.leftBytes === BURST_BYTES) accounts.delete(key);
        account.messages = 0;
        account.places.clear();
      }
    },
  };
}
