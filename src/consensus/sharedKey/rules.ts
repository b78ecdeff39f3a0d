import type { Address } from "../../primitives/address.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes } from "../../primitives/hex.ts";
import type { KeyNotice, KeyNoticeKind } from "./notice.ts";

interface Situation {
  readonly self: Address;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly isTakingPart: boolean;
}

/** The consequences of a notice. */
interface Judgement {
  /** False when the notice is old, our own, or that of our earlier run: nothing follows from it. */
  readonly isNews: boolean;
  /** Whether it shows that two nodes run with one key. */
  readonly isSign: boolean;
  /** True when another node takes part with our key, and we must not. */
  readonly silences: boolean;
  readonly answer: "claim" | undefined;
}

const NOTHING: Judgement = { isNews: false, isSign: false, silences: false, answer: undefined };

/**
 * Decides when this node notifies others about one key on two nodes, and what follows from their notices
 * (ibft2.md#notices-of-a-shared-key):
 *
 *     a start, or a silence because of our own key  -> ask, until we take part
 *     another node with our key asks                -> report, and claim, if we take part
 *     another one with our key claims               -> silent, unless we take part and have run for longer
 *     a report or contradiction about our key       -> claim, if we take part: the other one hears it
 *
 * Only our own key's signature can silence us. An earlier one cannot: it is from before our start, or not newer than the
 * last claim.
 */
export class SharedKeyRules {
  private readonly sentMs = new Map<string, number>();
  private readonly ownMs = new Set<number>();
  private lastClaimMs = 0;

  /** Whether to send a notice of this kind about this key now; counts it as sent if so. */
  isDue(kind: KeyNoticeKind, key: Address, nowMs: number): boolean {
    const name = `${kind} ${toKey(key)}`;
    if (nowMs - (this.sentMs.get(name) ?? Number.NEGATIVE_INFINITY) < PAUSES_MS[kind]) return false;
    this.sentMs.delete(name);
    this.sentMs.set(name, nowMs);
    dropOldest(this.sentMs, KEYS_REMEMBERED);
    return true;
  }

  /** Records the time of our own notice, because others return it. */
  signed(atMs: number): void {
    this.ownMs.add(atMs);
    dropOldest(this.ownMs, OWN_REMEMBERED);
  }

  judge(notice: KeyNotice, situation: Situation): Judgement {
    const { self, nowMs, isTakingPart } = situation;
    if (Math.abs(nowMs - notice.atMs) > FRESH_MS) return NOTHING;
    if (equalBytes(notice.author, self)) return this.judgeOwn(notice, situation);
    const isOurs = equalBytes(notice.key, self);
    // A claim may answer a false report.
    const isSign = notice.kind === "report" || notice.kind === "contradiction";
    return { isNews: true, isSign, silences: false, answer: isOurs && isTakingPart ? "claim" : undefined };
  }

  /** Judges a notice signed by our own key: whether it comes from another node, after our start. */
  private judgeOwn({ kind, atMs, ageSeconds }: KeyNotice, situation: Situation): Judgement {
    const { startedAtMs, nowMs, isTakingPart } = situation;
    if (atMs <= startedAtMs || this.ownMs.has(atMs)) return NOTHING;
    if (kind !== "claim")
      return { isNews: true, isSign: true, silences: false, answer: isTakingPart ? "claim" : undefined };
    const isNewer = atMs > this.lastClaimMs && Math.abs(nowMs - atMs) <= CLAIM_FRESH_MS;
    this.lastClaimMs = Math.max(this.lastClaimMs, isNewer ? atMs : 0);
    const ownSeconds = (nowMs - startedAtMs) / 1000;
    const silences = isNewer && (!isTakingPart || ageSeconds + ROUNDED_SECONDS >= ownSeconds);
    return { isNews: true, isSign: true, silences, answer: isTakingPart && !silences ? "claim" : undefined };
  }
}

/** Shortest interval between two notices of the same kind about one key. */
const PAUSES_MS: Readonly<Record<KeyNoticeKind, number>> = {
  ask: 2_000,
  claim: 1_500,
  report: 10_000,
  contradiction: 10_000,
};
/** How long a notice is relayed: the clocks of two validators differ by seconds. */
const FRESH_MS = 60_000;
/** How long a claim is valid. */
const CLAIM_FRESH_MS = 10_000;
/** Rounding of ages: two nodes that have run equally long are both silent. */
const ROUNDED_SECONDS = 1;
const KEYS_REMEMBERED = 256;
const OWN_REMEMBERED = 64;
