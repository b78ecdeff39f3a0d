import type { SignedMessage } from "../../ibft/message.ts";
import type { LogFields } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes, includesBytes, toHex } from "../../primitives/hex.ts";

export interface SkewReport {
  readonly level: "warn" | "info";
  readonly fields: LogFields;
  readonly message: string;
}

interface Measured {
  readonly address: Address;
  /** Milliseconds by which its clock seems to be ahead of ours, for each of its last proposals. */
  readonly aheadMs: readonly number[];
  readonly proposals: number;
  readonly height: bigint;
}

/** A wrong clock: that of one validator, or ours when `address` is undefined. */
interface Difference {
  readonly address: Address | undefined;
  /** Milliseconds by which that clock is ahead of the clocks of `comparedWith`. */
  readonly aheadMs: number;
  readonly comparedWith: readonly Address[];
}

/**
 * Detects validators whose clocks differ, as far as one validator can. The timestamp of a proposal of round 0 is its
 * proposer's clock, rounded to the nearest second (ibft2.md#block-timestamps); our clock gives the time of arrival:
 *
 *     before its timestamp      its clock is ahead: a slow link cannot cause that
 *     long after its timestamp  its clock is behind, or the link is slow
 *
 * A single difference proves little: the smallest of several consecutive ones counts. When most validators differ in the
 * same direction, our own clock is wrong.
 */
export class ClockSkew {
  private readonly self: Address;
  private others: readonly Address[] = [];
  private readonly measured = new Map<string, Measured>();
  private readonly reported = new Map<string, { readonly isAhead: boolean; readonly atMs: number }>();

  constructor(self: Address) {
    this.self = self;
  }

  /** Receives a message that arrived when our clock showed `atMs`. Returns a report that was not made yet, if any. */
  received(message: SignedMessage, atMs: number): SkewReport | undefined {
    if (message.kind !== "proposal" || message.signed.payload.round !== 0) return undefined;
    if (!includesBytes(this.others, message.signed.author)) return undefined;
    const newest = this.measure(message, message.candidate.header.timestamp, atMs);
    const difference =
      newest &&
      evaluate(newest, { self: this.self, others: this.others, measured: [...this.measured.values()] });
    if (newest === undefined || difference === undefined) return undefined;
    return difference === "none" ? this.reportAgreement(newest) : this.report(difference, atMs);
  }

  /** Keeps measurements of these validators only. */
  setValidators(validators: readonly Address[]): void {
    this.others = validators.filter((address) => !equalBytes(address, this.self));
    const keys = new Set(this.others.map(toKey));
    for (const key of this.measured.keys()) if (!keys.has(key)) this.measured.delete(key);
    for (const key of this.reported.keys()) if (key !== OURS && !keys.has(key)) this.reported.delete(key);
  }

  /** Milliseconds by which its clock seemed to be ahead of ours at each of its last proposals, the oldest first. */
  measuredOf(validator: Address): readonly number[] {
    return this.measured.get(toKey(validator))?.aheadMs ?? [];
  }

  private measure({ signed }: SignedMessage, timestamp: bigint, atMs: number): Measured | undefined {
    const { author, payload } = signed;
    const before = this.measured.get(toKey(author));
    if (before !== undefined && payload.height <= before.height) return undefined;
    const last: Measured = {
      address: author,
      aheadMs: [...(before?.aheadMs ?? []), Number(timestamp) * 1000 - atMs].slice(-PROPOSALS),
      proposals: (before?.proposals ?? 0) + 1,
      height: payload.height,
    };
    this.measured.set(toKey(author), last);
    return last;
  }

  private report(difference: Difference, atMs: number): SkewReport | undefined {
    const key = difference.address === undefined ? OURS : toKey(difference.address);
    const isAhead = difference.aheadMs > 0;
    const before = this.reported.get(key);
    if (before?.isAhead === isAhead && atMs - before.atMs < REPEAT_MS) return undefined;
    this.reported.set(key, { isAhead, atMs });
    const { address, aheadMs, comparedWith } = difference;
    const fields = address === undefined ? { aheadMs, of: comparedWith } : { validator: address, aheadMs };
    return { level: "warn", fields, message: describe(difference, this.others.length) };
  }

  private reportAgreement({ address }: Measured): SkewReport | undefined {
    const different = [...this.measured.values()].filter((one) => (smallestOf(one) ?? 0) !== 0).length;
    if (different * 2 <= this.others.length && this.reported.delete(OURS)) {
      const message = "this machine's clock and those of most other validators agree again";
      return { level: "info", fields: {}, message };
    }
    if (!this.reported.delete(toKey(address))) return undefined;
    const message = `the clock of ${toHex(address)} and this machine's agree again`;
    return { level: "info", fields: { validator: address }, message };
  }
}

/** Evaluates the newest proposal; undefined while there are too few measurements. */
function evaluate(
  newest: Measured,
  {
    self,
    others,
    measured,
  }: {
    readonly self: Address;
    readonly others: readonly Address[];
    readonly measured: readonly Measured[];
  },
): Difference | "none" | undefined {
  const known = measured.filter(({ aheadMs }) => aheadMs.length === PROPOSALS);
  const aheadMs = smallestOf(newest);
  if (aheadMs === undefined) return undefined;
  const alike = known.filter((one) => Math.sign(smallestOf(one) ?? 0) === Math.sign(aheadMs));
  if (aheadMs !== 0 && alike.length > 1 && alike.length * 2 > others.length) {
    const differences = alike.map((one) => Math.abs(smallestOf(one) ?? 0));
    const comparedWith = alike.map(({ address }) => address);
    return { address: undefined, aheadMs: -Math.sign(aheadMs) * Math.min(...differences), comparedWith };
  }
  if (aheadMs === 0) return "none";
  const isSure = known.length * 2 > others.length || newest.proposals >= 2 * PROPOSALS;
  return isSure ? { address: newest.address, aheadMs, comparedWith: [self] } : undefined;
}

/** The smallest difference of the last PROPOSALS proposals; 0 when it is below the thresholds. */
function smallestOf({ aheadMs }: Measured): number | undefined {
  if (aheadMs.length < PROPOSALS) return undefined;
  const [least, most] = [Math.min(...aheadMs), Math.max(...aheadMs)];
  if (least >= AHEAD_MS) return least;
  return most <= -BEHIND_MS ? most : 0;
}

function describe({ address, aheadMs, comparedWith }: Difference, others: number): string {
  const seconds = `${(Math.abs(aheadMs) / 1000).toFixed(1)} s`;
  const those = `${comparedWith.length} of the ${others} other validators`;
  const advice = "Is the time right (timedatectl, chronyc tracking)?";
  if (address === undefined) {
    return aheadMs < 0
      ? `this machine's clock is at least ${seconds} behind the clocks of ${those}. ${advice}`
      : `the proposals of ${those} arrive at least ${seconds} after their timestamps: this machine's clock is ` +
          `${seconds} ahead of theirs, or the links to them are that slow. ${advice}`;
  }
  const name = toHex(address);
  return aheadMs > 0
    ? `the clock of ${name} is at least ${seconds} ahead of this machine's: its proposals are refused while their timestamps are in the future. ${advice}`
    : `the proposals of ${name} arrive at least ${seconds} after their timestamps: its clock is ${seconds} behind ` +
        `this machine's, or the link to it is that slow. ${advice}`;
}

const OURS = "ours";

/** Number of consecutive proposals that must show a difference: with four validators some twelve seconds. */
const PROPOSALS = 3;

/**
 * Thresholds of a difference. Rounding to the nearest second can hide or fake half a second. A block up to one second ahead
 * is accepted (ibft2.md#header-rules, rule 4). Late arrivals may also be due to a busy machine, so their threshold is
 * higher.
 */
const AHEAD_MS = 1_000;
const BEHIND_MS = 1_500;

const REPEAT_MS = 10 * 60_000;
