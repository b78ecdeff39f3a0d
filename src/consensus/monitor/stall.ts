import type { LogFields, Logger } from "../../observability/logger.ts";
import { assertNever } from "../../primitives/assert.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { toHex } from "../../primitives/hex.ts";
import { describeEnd, SHORT_CAUSES } from "./silenceLog.ts";
import type { ConsensusStatus, MemberStatus } from "./status.ts";

interface StallWarningsParts {
  readonly clock: Clock;
  readonly logger: Logger;
  status(): ConsensusStatus;
}

/** Warns while no block arrives. */
export class StallWarnings {
  private readonly parts: StallWarningsParts;
  private timer: Timer | undefined;
  private headAtMs = 0;
  private isStalled = false;

  constructor(parts: StallWarningsParts) {
    this.parts = parts;
  }

  /** Must be called for each head; the first round after it takes up to `roundMs`. */
  headAdvanced(number: bigint, roundMs: number): void {
    const { clock, logger } = this.parts;
    const nowMs = clock.nowMs();
    if (this.isStalled) {
      const seconds = Math.round((nowMs - this.headAtMs) / 1000);
      logger.info({ number }, `blocks are being made again, after ${seconds} s without one`);
    }
    this.isStalled = false;
    this.headAtMs = nowMs;
    this.schedule(Math.max(MIN_STALL_MS, roundMs + ROUND_CHANGE_MS), FIRST_REPEAT_MS);
  }

  end(): void {
    this.timer?.cancel();
  }

  /** Warns in `delayMs` unless a block arrives, then repeatedly, at growing intervals. */
  private schedule(delayMs: number, repeatMs: number): void {
    const { clock, status, logger } = this.parts;
    this.timer?.cancel();
    this.timer = clock.at(clock.nowMs() + delayMs, () => {
      this.isStalled = true;
      const nowMs = clock.nowMs();
      const { fields, message } = describeStall(status(), { nowMs, headAtMs: this.headAtMs });
      logger.warn(fields, message);
      this.schedule(repeatMs, Math.min(repeatMs * 2, MAX_REPEAT_MS));
    });
  }
}

/** Shortest gap between blocks that causes a warning: shorter ones can be due to a restart or a busy disk. */
const MIN_STALL_MS = 5_000;

/** Time after a round's end within which the live validators have requested the next one. */
const ROUND_CHANGE_MS = 2_000;

const FIRST_REPEAT_MS = 10_000;
const MAX_REPEAT_MS = 60_000;

/** Describes a stalled chain in one sentence: how many validators are present, and which ones the chain waits for. */
function describeStall(
  status: ConsensusStatus,
  { nowMs, headAtMs }: { readonly nowMs: number; readonly headAtMs: number },
): { readonly fields: LogFields; readonly message: string } {
  const { height, quorum, round, members } = status;
  const missing = missingOf(status);
  return {
    fields: {
      height,
      ...(round && {
        round: round.number,
        proposer: round.proposer,
        roundEndsInMs: round.timeoutAtMs - nowMs,
      }),
      validators: members.length,
      quorum,
      ...(missing && { missing: missing.map(({ address }) => address) }),
    },
    message:
      `no block for ${ageOf(nowMs - headAtMs)} at height ${height}: ${reasonOf(status, missing, { nowMs, headAtMs })}` +
      adviceFor(status, nowMs),
  };
}

/** The silent validators; undefined on a node that does not receive votes, because it is not a validator. */
function missingOf({ mode, members }: ConsensusStatus): readonly MemberStatus[] | undefined {
  return mode === "validating" || mode === "silent"
    ? members.filter(({ isPresent }) => !isPresent)
    : undefined;
}

function reasonOf(
  status: ConsensusStatus,
  missing: readonly MemberStatus[] | undefined,
  { nowMs, headAtMs }: { readonly nowMs: number; readonly headAtMs: number },
): string {
  switch (status.mode) {
    case "following":
      return "this node is not a validator and receives no votes; ibft_status on a validator shows which ones are missing";
    case "paused":
      return (
        `this node neither proposes nor votes: ${status.pauseCause ?? "it is paused"}` +
        (isAlone(status) ? "; it is not connected to any other validator" : "")
      );
    case "failed":
    case "notStarted":
      return "consensus does not run on this node";
    case "bound":
      return "this node voted at a later height before its restart, and takes part when the chain gets there";
    case "silent":
      return describeSilence(status, missing ?? [], { nowMs, stalledMs: nowMs - headAtMs });
    case "validating":
      return describeVoting(status, missing ?? [], nowMs);
    default:
      return assertNever(status.mode);
  }
}

function isAlone({ members }: ConsensusStatus): boolean {
  return members.length > 1 && members.every(({ connections }) => connections === 0);
}

function describeVoting(
  { members, quorum, round }: ConsensusStatus,
  missing: readonly MemberStatus[],
  nowMs: number,
): string {
  const heard = `${members.length - missing.length} of ${members.length} validators heard, quorum ${quorum}`;
  if (missing.length > 0)
    return `${heard}; waiting for ${describeAll(missing, nowMs)}${missing.some(isConnected) ? THEY_SAY_WHY : ""}`;
  return round === undefined ? heard : `${heard}; in round ${round.number} of ${toHex(round.proposer)}`;
}

/**
 * Describes our own silence. The others may be silent too: if they are no quorum without us, the chain does not continue by
 * itself.
 */
function describeSilence(
  { members, quorum, silence }: ConsensusStatus,
  missing: readonly MemberStatus[],
  { nowMs, stalledMs }: { readonly nowMs: number; readonly stalledMs: number },
): string {
  if (silence === undefined) return "this node is silent";
  const others = members.length - 1 - missing.length;
  const heard =
    `${SHORT_CAUSES[silence.reason]} and is silent. ${describeEnd(silence)} ` +
    `${others} of the ${members.length - 1} other validators heard, quorum ${quorum}`;
  const waiting = missing.length === 0 ? "" : `; not heard: ${describeAll(missing, nowMs)}`;
  if (others < quorum) return `${heard}${waiting}. ${TOO_FEW} ${SAFE_STEP}`;
  return stalledMs < LONG_STALL_MS
    ? `${heard}${waiting}`
    : `${heard}${waiting}. ${STILL_NO_BLOCK} ${SAFE_STEP}`;
}

function describeAll(missing: readonly MemberStatus[], nowMs: number): string {
  return missing.map((member) => describeMissing(member, nowMs)).join(", ");
}

const TOO_FEW = "Too few are left to decide a block: the chain has stalled.";

/** Validators that have become silent since still count as heard when others repeat their votes. */
const STILL_NO_BLOCK = "There is no block although they are heard: some of them may be silent too.";

/** Duration of a stall after which something else must be wrong, although enough validators are heard. */
const LONG_STALL_MS = 30_000;

const SAFE_STEP =
  "Start the validators that are down. If that does not help: stop ALL validators, so that no votes are left in their memory; " +
  "run ibex validator forget-votes on each silent one, and on no other; then start all of them. Step by step: " +
  "docs/operating.md, Lost votes";

const isConnected = ({ connections }: MemberStatus): boolean => connections !== undefined && connections > 0;

const THEY_SAY_WHY = ". The log of a connected one, and `ibex status` there, tell why it sends none";

/** Advice for a round that is longer than most repairs take; a restart does not help, because the vote log restores it. */
function adviceFor({ round }: ConsensusStatus, nowMs: number): string {
  if (round === undefined || round.timeoutAtMs - round.startedAtMs < LONG_ROUND_MS) return "";
  return (
    `; round ${round.number} ends in ${ageOf(round.timeoutAtMs - nowMs)}, and a restart of this node does not shorten it: ` +
    "see docs/operating.md, When the chain stalls (ibex validator forget-votes)"
  );
}

const LONG_ROUND_MS = 60_000;

function describeMissing({ address, lastHeard, connections }: MemberStatus, nowMs: number): string {
  const link =
    connections === undefined ? "" : connections > 0 ? ", connected, but sends no votes" : ", not connected";
  const heard =
    lastHeard === undefined
      ? "never heard since the start"
      : `last heard ${ageOf(nowMs - lastHeard.atMs)} ago at height ${lastHeard.height}`;
  return `${toHex(address)} (${heard}${link})`;
}

/** Formats an age in a rounded unit: 40 s, 14 m, 3 h. */
function ageOf(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} m` : `${Math.round(seconds / 3600)} h`;
}
