import type { ConsensusStatus, MemberStatus, RoundStatus } from "../../../consensus/monitor/status.ts";
import type { Address } from "../../../primitives/address.ts";
import { equalBytes, toHex } from "../../../primitives/hex.ts";
import { quantityOrNull, toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod, type Json } from "../../method.ts";
import { OBJECT } from "../../schemas.ts";

/** Not in Besu: the first thing to check when the chain stalls (docs/operating.md, "When the chain stalls"). */
export const ibftStatus = defineMethod({
  name: "ibft_status",
  namespace: "IBFT",
  summary: "The current height and round, the proposer, the votes received, and the missing validators.",
  parameters: [],
  result: { name: "status", schema: OBJECT },
  ports: ["consensus", "clock"],
  mayOverlap: "many",
  async run(_, context) {
    const { consensus, clock } = context.backend;
    return showConsensus(await consensus.status(context), clock.nowMs());
  },
});

/** The answer of ibft_status. */
export function showConsensus(status: ConsensusStatus, nowMs: number): Json {
  const { mode, self, isValidator, height, quorum, round, silence, members, head, votes } = status;
  const isTakingPart = round !== undefined;
  return {
    mode,
    address: toHex(self),
    isValidator,
    height: quantityOrNull(height),
    ...showRound(round, nowMs),
    silence:
      silence === undefined || !isValidator
        ? null
        : {
            reason: silence.reason,
            upToHeight: toQuantity(silence.upTo),
            untilTimestamp: toQuantity(silence.untilTimestamp),
          },
    quorum: toQuantity(quorum),
    missing: isTakingPart ? members.filter(({ isPresent }) => !isPresent).map(addressOf) : null,
    validators: members.map((member) => showMember(member, status, nowMs)),
    lastBlock: head && {
      number: toQuantity(head.number),
      hash: toHex(head.hash),
      proposer: toHex(head.proposer),
      round: quantityOrNull(head.round),
      timestamp: toQuantity(head.timestamp),
      ageMs: nowMs - Number(head.timestamp) * 1000,
    },
    validatorVotes: {
      needed: toQuantity(votes.needed),
      expireAtBlock: quantityOrNull(votes.expireAt),
      outstanding: votes.outstanding.map(({ recipient, add, drop }) => ({
        address: toHex(recipient),
        add: add.map(toHex),
        drop: drop.map(toHex),
      })),
    },
  };
}

function showRound(round: RoundStatus | undefined, nowMs: number): Readonly<Record<string, Json>> {
  if (round === undefined) return { round: null, proposer: null, phase: null, timers: null, votes: null };
  return {
    round: toQuantity(round.number),
    proposer: toHex(round.proposer),
    phase: round.phase,
    timers: { roundAgeMs: nowMs - round.startedAtMs, roundEndsInMs: round.timeoutAtMs - nowMs },
    votes: {
      proposal: PROPOSED.has(round.phase) ? toHex(round.proposer) : null,
      prepares: round.prepares.map(toHex),
      commits: round.commits.map(toHex),
      roundChanges: round.roundChanges.map(({ author, round: number }) => ({
        address: toHex(author),
        round: toQuantity(number),
      })),
    },
  };
}

/** Phases after the Proposal has arrived. */
const PROPOSED: ReadonlySet<string> = new Set([
  "validating",
  "signing",
  "refused",
  "accepted",
  "prepared",
  "decided",
]);

function showMember(member: MemberStatus, { self, round }: ConsensusStatus, nowMs: number): Json {
  const { address, isPresent, missedTurns, connections, lastHeard, clockAheadMs } = member;
  const isSelf = equalBytes(address, self);
  return {
    address: toHex(address),
    isSelf,
    isProposer: round !== undefined && equalBytes(round.proposer, address),
    isHeard: round === undefined ? null : isPresent,
    peers: isSelf ? null : quantityOrNull(connections),
    missedTurns: toQuantity(missedTurns),
    clockAheadMs: isSelf ? null : clockAheadMs.map(Math.round),
    lastHeard:
      lastHeard === undefined
        ? null
        : {
            agoMs: nowMs - lastHeard.atMs,
            kind: lastHeard.kind,
            height: toQuantity(lastHeard.height),
            round: quantityOrNull(lastHeard.round),
          },
  };
}

function addressOf({ address }: { readonly address: Address }): string {
  return toHex(address);
}
