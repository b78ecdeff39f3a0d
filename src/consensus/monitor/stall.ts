import type { Facts } from "../../observability/logger.ts";
import { assertNever } from "../../primitives/assert.ts";
import { toHex } from "../../primitives/hex.ts";
import { describeEnd, SHORT_CAUSES } from "./silence.ts";
import type { ConsensusStatus, MemberStatus } from "./status.ts";

/** Describes a stalled chain in one sentence: how many validators are present, and which ones the chain waits for. */
export function describeStall(
  status: ConsensusStatus,
  { nowMs, headAtMs }: { readonly nowMs: number; readonly headAtMs: number },
): { readonly facts: Facts; readonly message: string } {
  const { height, quorum, round, members } = status;
  const missing = missingOf(status);
  return {
    facts: {
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
      `no block for ${ageOf(nowMs - headAtMs)} at height ${height}: ${reasonOf(status, missing, nowMs)}` +
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
  nowMs: number,
): string {
  switch (status.mode) {
    case "following":
      return "this node is not a validator and receives no votes; ibft_status of a validator tells who is missing";
    case "paused":
      return `this node is paused and does not take part${isAlone(status) ? "; it is connected with no other validator" : ""}`;
    case "failed":
    case "notStarted":
      return "consensus does not run on this node";
    case "bound":
      return "this node voted at a later height before its restart, and takes part when the chain gets there";
    case "silent":
      return describeSilence(status, missing ?? [], nowMs);
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
  if (missing.length > 0) return `${heard}; waiting for ${describeAll(missing, nowMs)}`;
  return round === undefined ? heard : `${heard}; in round ${round.number} of ${toHex(round.proposer)}`;
}

/** The others may be silent too: where they are no quorum without us, nothing goes on by itself. */
function describeSilence(
  { members, quorum, silence }: ConsensusStatus,
  missing: readonly MemberStatus[],
  nowMs: number,
): string {
  if (silence === undefined) return "this node is silent";
  const others = members.length - 1 - missing.length;
  const heard =
    `${SHORT_CAUSES[silence.reason]} and is silent. ${describeEnd(silence)} ` +
    `${others} of the ${members.length - 1} other validators heard, quorum ${quorum}`;
  const waiting = missing.length === 0 ? "" : `; not heard: ${describeAll(missing, nowMs)}`;
  return others >= quorum ? `${heard}${waiting}` : `${heard}${waiting}. ${SAFE_STEP}`;
}

function describeAll(missing: readonly MemberStatus[], nowMs: number): string {
  return missing.map((member) => describeMissing(member, nowMs)).join(", ");
}

const SAFE_STEP =
  "Too few are left to decide a block. If those that are missing do not come back: stop ALL validators, so that no votes " +
  "are left in their memory, let each silent one forget its votes (ibex validator forget-votes), and start all again: see " +
  "docs/operating.md, Lost votes";

/** Advice for a round that is longer than most repairs take; a restart does not help, because the vote log restores it. */
function adviceFor({ round }: ConsensusStatus, nowMs: number): string {
  if (round === undefined || round.timeoutAtMs - round.startedAtMs < LONG_ROUND_MS) return "";
  return (
    `; round ${round.number} ends in ${ageOf(round.timeoutAtMs - nowMs)}, and a restart of this node does not shorten it: ` +
    "see docs/operating.md, When the chain stands (ibex validator forget-votes)"
  );
}

const LONG_ROUND_MS = 60_000;

function describeMissing({ address, lastHeard, connections }: MemberStatus, nowMs: number): string {
  const link = connections === undefined ? "" : connections > 0 ? ", connected" : ", not connected";
  const heard =
    lastHeard === undefined
      ? "never heard since the start"
      : `last heard ${ageOf(nowMs - lastHeard.atMs)} ago at height ${lastHeard.height}`;
  return `${toHex(address)} (${heard}${link})`;
}

/** In a rounded unit: 40 s, 14 m, 3 h. */
function ageOf(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} m` : `${Math.round(seconds / 3600)} h`;
}
