import type { Authored } from "../../ibft/message.ts";
import type { Facts } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes, includesBytes, toHex } from "../../primitives/hex.ts";

/**
 * Whether the clocks of the validators agree, as far as one of them can see. A proposal of round 0 bears the nearest
 * second of its proposer's clock (ibft2.md#block-timestamps), and ours shows when it comes:
 *
 *     earlier than its time  its clock is ahead: no link can bring that about
 *     long after its time    its clock is behind, or the way from it is slow
 *
 * One difference says little: of several in a row the smallest counts. When the same is seen of most validators, the
 * clock that differs is ours.
 */
export interface ClockSkew {
  /** A message came when our clock showed `atMs`. Answers with what the operator does not know yet. */
  heard(message: Authored, atMs: number): SkewReport | undefined;
  /** Only of these anything is remembered. */
  validatorsAre(validators: readonly Address[]): void;
}

export interface SkewReport {
  readonly level: "warn" | "info";
  readonly facts: Facts;
  readonly message: string;
}

interface Measured {
  readonly address: Address;
  /** How far its clock seems to be ahead of ours, milliseconds, by its last proposals. */
  readonly aheadMs: readonly number[];
  readonly proposals: number;
  readonly height: bigint;
}

/** A clock that differs: of one validator, or ours where `address` is undefined. */
interface Difference {
  readonly address: Address | undefined;
  /** Of that clock against ours, or of ours against those of others. */
  readonly aheadMs: number;
  readonly of: readonly Address[];
}

export function createClockSkew(self: Address): ClockSkew {
  let others: readonly Address[] = [];
  const measured = new Map<string, Measured>();
  const told = new Map<string, { readonly isAhead: boolean; readonly atMs: number }>();

  function measure({ signed }: Authored, timestamp: bigint, atMs: number): Measured | undefined {
    const { author, payload } = signed;
    const before = measured.get(toKey(author));
    if (before !== undefined && payload.height <= before.height) return undefined;
    const last: Measured = {
      address: author,
      aheadMs: [...(before?.aheadMs ?? []), Number(timestamp) * 1000 - atMs].slice(-PROPOSALS),
      proposals: (before?.proposals ?? 0) + 1,
      height: payload.height,
    };
    measured.set(toKey(author), last);
    return last;
  }

  /** What follows from the newest proposal; undefined while that cannot be told. */
  function judge(newest: Measured): Difference | "none" | undefined {
    const known = [...measured.values()].filter(({ aheadMs }) => aheadMs.length === PROPOSALS);
    const aheadMs = smallestOf(newest);
    if (aheadMs === undefined) return undefined;
    const alike = known.filter((one) => Math.sign(smallestOf(one) ?? 0) === Math.sign(aheadMs));
    if (aheadMs !== 0 && alike.length > 1 && alike.length * 2 > others.length) {
      const differences = alike.map((one) => Math.abs(smallestOf(one) ?? 0));
      const of = alike.map(({ address }) => address);
      return { address: undefined, aheadMs: -Math.sign(aheadMs) * Math.min(...differences), of };
    }
    if (aheadMs === 0) return "none";
    const isSure = known.length * 2 > others.length || newest.proposals >= 2 * PROPOSALS;
    return isSure ? { address: newest.address, aheadMs, of: [self] } : undefined;
  }

  function tell(difference: Difference, atMs: number): SkewReport | undefined {
    const key = difference.address === undefined ? OURS : toKey(difference.address);
    const isAhead = difference.aheadMs > 0;
    const before = told.get(key);
    if (before?.isAhead === isAhead && atMs - before.atMs < REPEAT_MS) return undefined;
    told.set(key, { isAhead, atMs });
    const { address, aheadMs, of } = difference;
    const facts = address === undefined ? { aheadMs, of } : { validator: address, aheadMs };
    return { level: "warn", facts, message: describe(difference, others.length) };
  }

  function logAgreement({ address }: Measured): SkewReport | undefined {
    const different = [...measured.values()].filter((one) => (smallestOf(one) ?? 0) !== 0).length;
    if (different * 2 <= others.length && told.delete(OURS)) {
      const message = "this machine's clock and those of most other validators agree again";
      return { level: "info", facts: {}, message };
    }
    if (!told.delete(toKey(address))) return undefined;
    const message = `the clock of ${toHex(address)} and this machine's agree again`;
    return { level: "info", facts: { validator: address }, message };
  }

  return {
    heard(message, atMs) {
      if (message.kind !== "proposal" || message.signed.payload.round !== 0) return undefined;
      if (!includesBytes(others, message.signed.author)) return undefined;
      const newest = measure(message, message.candidate.header.timestamp, atMs);
      const verdict = newest && judge(newest);
      if (newest === undefined || verdict === undefined) return undefined;
      return verdict === "none" ? logAgreement(newest) : tell(verdict, atMs);
    },
    validatorsAre(validators) {
      others = validators.filter((address) => !equalBytes(address, self));
      const keys = new Set(others.map(toKey));
      for (const key of measured.keys()) if (!keys.has(key)) measured.delete(key);
      for (const key of told.keys()) if (key !== OURS && !keys.has(key)) told.delete(key);
    },
  };
}

/** The smallest difference of enough proposals; 0 where it is none to speak of. */
function smallestOf({ aheadMs }: Measured): number | undefined {
  if (aheadMs.length < PROPOSALS) return undefined;
  const [least, most] = [Math.min(...aheadMs), Math.max(...aheadMs)];
  if (least >= AHEAD_MS) return least;
  return most <= -BEHIND_MS ? most : 0;
}

function describe({ address, aheadMs, of }: Difference, others: number): string {
  const seconds = `${(Math.abs(aheadMs) / 1000).toFixed(1)} s`;
  const those = `${of.length} of the ${others} other validators`;
  const advice = "Is the time right (timedatectl, chronyc tracking)?";
  if (address === undefined) {
    return aheadMs < 0
      ? `this machine's clock is at least ${seconds} behind the clocks of ${those}. ${advice}`
      : `the proposals of ${those} come at least ${seconds} after the time that they bear: this machine's clock is ` +
          `${seconds} ahead of theirs, or the way from them is that slow. ${advice}`;
  }
  const name = toHex(address);
  return aheadMs > 0
    ? `the clock of ${name} is at least ${seconds} ahead of this machine's: what it proposes is refused when its time has not come. ${advice}`
    : `the proposals of ${name} come at least ${seconds} after the time that they bear: its clock is ${seconds} behind ` +
        `this machine's, or the way from it is that slow. ${advice}`;
}

const OURS = "ours";

/** Proposals in a row that must show a difference: with four validators some twelve seconds. */
const PROPOSALS = 3;

/**
 * Rounding to the nearest second can hide or feign half a second. Up to one second ahead a block is taken
 * (ibft2.md#header-rules, rule 4). What comes late may also be due to a busy machine, so that more is asked
 * of it.
 */
const AHEAD_MS = 1_000;
const BEHIND_MS = 1_500;

const REPEAT_MS = 10 * 60_000;
