import { type Effects, LOAD_BYTES, leastGasOfLogs, NO_EFFECTS } from "../../execution/effectCost.ts";
import type { EffectRoom, NoLimit, TimeLimits } from "../../execution/timeLimits.ts";
import type { Logger } from "../../observability/logger.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { SentTransaction } from "../../types/transaction.ts";
import { TRANSACTION_GAS } from "../../types/transactionCount.ts";
import { TimedOutSenders } from "./timedOutSenders.ts";

/**
 * Limits the effects of the transactions in our blocks (execution/effectCost.ts): their logs, the code that they store, and the
 * accounts and slots that they change. They cost time and memory after the execution, here and on every other node: bloom,
 * receipts, roots and the database. Gas alone would let a block with a gas limit of 400 million have 44 MB of logs, and one of
 * 2^53 any amount. A transaction is stopped before the log that would exceed its limit, and after the change that does.
 *
 *     more than TRANSACTION_EFFECTS       dropped: no block of this node can have it
 *     more than the block has room for    left out, and tried again when there is as much room as it is known to need
 *
 * A block has room for BLOCK_EFFECTS, and for as much as there is time to finish. The time does not count for a
 * transaction that has waited for some blocks, or busy senders could keep it out for ever: one block has at most one such
 * transaction, since filling ends when the time is used up. In blocks of a lone validator it does not count for the first large
 * effects either, so that others may wait for longer: the next block may not come before this transaction is mined, since on
 * the development network blocks are made for what waits. Effects of reverted calls do not count: nothing is computed for them,
 * their memory is counted while they hold it, and their time is bounded as for any execution (slowTransactions.ts).
 *
 * A sender pays nothing for a dropped transaction, so its next ones are limited further, like those of a sender of slow
 * transactions. All this is local to one node and no rule of consensus.
 */
export class LargeEffects {
  private readonly parts: LargeEffectsParts;
  /** Left out transactions, keyed by hash, the oldest first. */
  private readonly leftOut = new Map<string, LeftOut>();
  /** Senders of transactions that were dropped. */
  private readonly droppedSenders: TimedOutSenders;

  constructor(parts: LargeEffectsParts) {
    this.parts = parts;
    this.droppedSenders = new TimedOutSenders(() => parts.nowMs());
  }

  /** Adds limits for effects to those of one block. */
  limiting(limits: TimeLimits, block: LimitedBlock): TimeLimits {
    let lostMs = 0;
    let hasStoppedKnownSender = false;
    let hasLarge = false;
    let lastUsed = NO_EFFECTS;
    return {
      limitMs: (...asked) => limits.limitMs(...asked),
      stopped: (...stopped) => limits.stopped(...stopped),
      nextDeferred: (leftMs) => limits.nextDeferred?.(leftMs),
      effectLimit: (transaction, room) => {
        hasLarge ||= !holds(LARGE_EFFECTS, without(room.used, lastUsed));
        lastUsed = room.used;
        if (transaction.gasLimit <= TRANSACTION_GAS) return HARMLESS_EFFECTS;
        const left = leftInBlock(room.used);
        if (!holds(left, HARMLESS_EFFECTS)) return "notNow";
        if (transaction.gasLimit <= HARMLESS_GAS) return left;
        const mayWaste = this.droppedSenders.has(transaction)
          ? !hasStoppedKnownSender
          : lostMs < block.windowMs * WASTE_SHARE;
        return mayWaste ? this.limitOf(transaction, room, { ...block, hasLarge }) : "notNow";
      },
      exceededEffects: (transaction, facts) => {
        if (this.droppedSenders.has(transaction)) hasStoppedKnownSender = true;
        else lostMs += facts.tookMs;
        return this.leaveOut(transaction, facts, block.number);
      },
    };
  }

  /** Forgets the transactions of each new block. */
  onMined(transactions: readonly { readonly hash: Hash }[]): void {
    if (this.leftOut.size === 0) return;
    for (const { hash } of transactions) this.leftOut.delete(toKey(hash));
  }

  private limitOf(
    { hash }: SentTransaction,
    { used, timelyLoad }: EffectRoom,
    { number, isLoneValidator, hasLarge }: LimitedBlock & { readonly hasLarge: boolean },
  ): Effects | NoLimit {
    const known = this.find(hash);
    if (known?.reason !== undefined) return { dropped: known.reason };
    const left = leftInBlock(used);
    if (isLoneValidator && !hasLarge) return left;
    if (known !== undefined && number < known.notBefore) return "notNow";
    const wait = isLoneValidator ? WAIT_BLOCKS_ALONE : WAIT_BLOCKS;
    const hasWaited = known !== undefined && number >= known.since + wait;
    const limit = hasWaited ? left : within(left, timelyLoad);
    return known !== undefined && !holds(limit, known.needed) ? "notNow" : limit;
  }

  /** Returns the reason to drop the transaction, if any. */
  private leaveOut(
    transaction: SentTransaction,
    { limit, needed }: { readonly limit: Effects; readonly needed: Effects },
    number: bigint,
  ): string | undefined {
    const { hash, sender, gasLimit } = transaction;
    const key = toKey(hash);
    const { since = number, tries = 0 } = this.leftOut.get(key) ?? {};
    const reason = reasonToDrop(needed);
    const notBefore = number + 2n ** BigInt(Math.min(tries, MOST_DOUBLINGS));
    const untilMs = this.parts.nowMs() + REMEMBERED_MS;
    this.leftOut.delete(key);
    this.leftOut.set(key, { since, tries: tries + 1, notBefore, needed, reason, untilMs });
    dropOldest(this.leftOut, LEFT_OUT_LIMIT);
    const fields = { number, hash, sender, gasLimit, needed, limit };
    if (reason !== undefined) {
      this.droppedSenders.add(transaction);
      this.parts.logger.warn(
        fields,
        "a transaction logs, stores or changes more than a block of this node may have: dropped",
      );
    } else if (tries === 0) {
      const message =
        "a transaction logs, stores or changes more than this block has room for: it will be retried later";
      this.parts.logger.debug(fields, message);
    }
    return reason;
  }

  private find(hash: Hash): LeftOut | undefined {
    if (this.leftOut.size === 0) return undefined;
    const key = toKey(hash);
    const known = this.leftOut.get(key);
    if (known === undefined || this.parts.nowMs() < known.untilMs) return known;
    this.leftOut.delete(key);
    return undefined;
  }
}

/** The block to limit the effects in. */
interface LimitedBlock {
  readonly number: bigint;
  /** Time that filling may take. */
  readonly windowMs: number;
  /** True when no other validator makes blocks. */
  readonly isLoneValidator: boolean;
}

interface LargeEffectsParts {
  nowMs(): number;
  readonly logger: Pick<Logger, "warn" | "debug">;
}

interface LeftOut {
  /** Number of the first block that it was left out of. */
  readonly since: bigint;
  readonly tries: number;
  /** Number of the first block that may try it again. */
  readonly notBefore: bigint;
  /** The least that it needs. */
  readonly needed: Effects;
  /** Why it was dropped; undefined while it waits. */
  readonly reason: string | undefined;
  /** Time at which the record is forgotten. */
  readonly untilMs: number;
}

/**
 * The most effects that one transaction, and one block of this node, may have. The first also bounds how late a block may be,
 * since a transaction that has waited for some blocks is included whatever the time; the second also bounds memory.
 */
export const TRANSACTION_EFFECTS: Effects = { bytes: 8 * 1024 * 1024, changes: 20_000 };
export const BLOCK_EFFECTS: Effects = { bytes: 32 * 1024 * 1024, changes: 200_000 };
/** The least that every executed transaction may have: it takes less than a millisecond. */
const HARMLESS_EFFECTS: Effects = { bytes: 64 * 1024, changes: 32 };
/** The most that is not large: a transaction with more takes above ten milliseconds to finish. */
const LARGE_EFFECTS: Effects = { bytes: 1024 * 1024, changes: 500 };
/** Highest gas limit with which effects cannot be more than harmless; a change costs at least 4,900 gas. */
const HARMLESS_GAS = leastGasOfLogs(HARMLESS_EFFECTS.bytes);
/** Share of the filling time that transactions stopped for their effects may take; after that, others wait. */
const WASTE_SHARE = 1 / 4;
/** Number of blocks after which a transaction no longer waits for a block with enough time. */
const WAIT_BLOCKS = 4n;
/** The same for a lone validator, most of whose waiting transactions are the first large one of a block before. */
const WAIT_BLOCKS_ALONE = 16n;
/** Each time a transaction is left out again, it waits for twice as many blocks, 16 at most. */
const MOST_DOUBLINGS = 4;
/** Most transactions that are remembered, some 300 bytes each, and for how long, milliseconds. */
const LEFT_OUT_LIMIT = 1_024;
const REMEMBERED_MS = 600_000;

const TOO_MANY_BYTES =
  "its logs and new code cost more than 8 MiB, the limit of one transaction in this node's blocks";
const TOO_MANY_CHANGES =
  "it changes more than 20,000 accounts and storage slots, the limit of one transaction in this node's blocks";

function reasonToDrop({ bytes, changes }: Effects): string | undefined {
  if (bytes > TRANSACTION_EFFECTS.bytes) return TOO_MANY_BYTES;
  return changes > TRANSACTION_EFFECTS.changes ? TOO_MANY_CHANGES : undefined;
}

function leftInBlock(used: Effects): Effects {
  return {
    bytes: Math.min(TRANSACTION_EFFECTS.bytes, BLOCK_EFFECTS.bytes - used.bytes),
    changes: Math.min(TRANSACTION_EFFECTS.changes, BLOCK_EFFECTS.changes - used.changes),
  };
}

function holds(limit: Effects, needed: Effects): boolean {
  return limit.bytes >= needed.bytes && limit.changes >= needed.changes;
}

function without(all: Effects, some: Effects): Effects {
  return { bytes: all.bytes - some.bytes, changes: all.changes - some.changes };
}

/** What there is time for, and at least what is harmless. */
function within(left: Effects, timelyLoad: number): Effects {
  const { bytes, changes } = HARMLESS_EFFECTS;
  return {
    bytes: Math.min(left.bytes, Math.max(Math.floor(timelyLoad * LOAD_BYTES), bytes)),
    changes: Math.min(left.changes, Math.max(Math.floor(timelyLoad), changes)),
  };
}
