import type { Facts } from "../../observability/logger.ts";
import { assertNever } from "../../primitives/assert.ts";
import { toHex } from "../../primitives/hex.ts";
import type { ConsensusStatus, MemberStatus } from "./status.ts";

/** Describes a stalled chain in one sentence: how many validators are present, and which ones the chain waits for. */
export function describeStall(
  status: ConsensusStatus,
  { nowMs, headAtMs }: { readonly nowMs: number; readonly headAtMs: number },
): { readonly facts: Facts; readonly message: string } {
  const { height, mode, quorum, round, members } = status;
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
      `no block for ${ageOf(nowMs - headAtMs)} at height ${height}: ${reasonOf(status, missing, nowMs, mode)}` +
      adviceFor(status, nowMs),
  };
}

/** The silent validators; undefined on a node that does not receive votes, because it is not a validator. */
function missingOf({ mode, members }: ConsensusStatus): readonly MemberStatus[] | undefined {
  return mode === "validating" ? members.filter(({ isPresent }) => !isPresent) : undefined;
}

function reasonOf(
  { members, quorum, round }: ConsensusStatus,
  missing: readonly MemberStatus[] | undefined,
  nowMs: number,
  mode: ConsensusStatus["mode"],
): string {
  switch (mode) {
    case "following":
      return "this node is not a validator and receives no votes; ibft_status of a validator tells who is missing";
    case "paused":
      return "this node is paused and does not take part";
    case "failed":
    case "notStarted":
      return "consensus does not run on this node";
    case "bound":
      return "this node voted at a later height before its restart, and takes part when the chain gets there";
    case "validating": {
      const present = members.length - (missing?.length ?? 0);
      const heard = `${present} of ${members.length} validators heard, quorum ${quorum}`;
      const waiting = (missing ?? []).map((member) => describeMissing(member, nowMs)).join(", ");
      if (waiting !== "") return `${heard}; waiting for ${waiting}`;
      return round === undefined ? heard : `${heard}; in round ${round.number} of ${toHex(round.proposer)}`;
    }
    default:
      return assertNever(mode);
  }
}

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
