import { assert, present } from "../primitives/assert.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Digest } from "../types/blockHash.ts";
import type { Candidate } from "./candidate.ts";
import { isProposer } from "./committee.ts";
import type { Draft } from "./draft.ts";
import {
  commitsFor,
  dropRoundsBefore,
  findHeld,
  type Held,
  hold,
  isDoubleVote,
  preparesFor,
} from "./inbox.ts";
import type { Commit, Prepare, Proposal, RoundChangeCertificate } from "./message.ts";
import { signPayload } from "./payloadCodec.ts";
import { isPrepared, type Round, type Rules } from "./state.ts";
import { earliestTimestamp, nextTimestamp, roundTimeoutMs } from "./timeouts.ts";

/**
 * One round: somebody proposes a block, a quorum prepares it, a quorum seals it.
 *
 *   our turn -> building -> built --+
 *                                   +-> accepted -> prepared -> decided
 *   a proposal -> on trial -> sound-+                   (commits alone may decide as well)
 */

/** A round that begins now; its timer runs from here, in round 0 from the arrival of the head. */
export function newRound(rules: Rules, number: number, nowMs: number): Round {
  const timeoutAtMs = nowMs + roundTimeoutMs(rules.schedule, number);
  return { number, startedAtMs: nowMs, timeoutAtMs, turn: undefined, trial: undefined };
}

/** Leaves the round in progress, if any, for a later one, or begins round 0. */
export function startRound(draft: Draft, number: number): void {
  const round = newRound(draft.rules, number, draft.nowMs);
  gatherPrepares(draft);
  draft.changeHeight({ round, inbox: dropRoundsBefore(draft.height.inbox, number) });
  draft.emit({ kind: "setRoundTimer", id: draft.id, atMs: round.timeoutAtMs });
}

/**
 * A quorum of Prepares is all it took, but what we bring along is every Prepare that we hold
 * (ibft2.md#round-expiry).
 */
function gatherPrepares(draft: Draft): void {
  const { prepared, inbox, round } = draft.height;
  if (prepared === undefined || !isPrepared(draft.height)) return;
  const { certificate, candidate } = prepared;
  const prepares = preparesFor(inbox, round.number, candidate.digest).map(({ signed }) => signed);
  // After a restart the record holds more than we have heard again.
  if (prepares.length <= certificate.prepares.length) return;
  draft.changeHeight({ prepared: { candidate, certificate: { ...certificate, prepares } } });
}

/** Leads here: round 0 if we are its proposer; a quorum that asks for our round and has no prepared block. */
export function beginTurn(draft: Draft, certificate?: RoundChangeCertificate): void {
  draft.changeRound({ turn: { building: "notYet", certificate } });
  continueTurn(draft);
}

/** Takes our turn as far as the time allows. Leads here: its beginning, the block timer, the built candidate. */
export function continueTurn(draft: Draft): void {
  const { round, height, rules, nowMs } = draft;
  if (round.turn === undefined || round.trial !== undefined) return;
  const { building } = round.turn;
  const proposeAtMs = Number(earliestTimestamp(rules.schedule, height.parent.header)) * 1000;
  if (building === "asked") return;
  const isBuilt = building !== "notYet";
  const dueAtMs = isBuilt ? proposeAtMs : proposeAtMs - rules.buildAheadMs;
  if (nowMs < dueAtMs) {
    draft.emit({ kind: "setBlockTimer", id: draft.id, atMs: dueAtMs });
  } else if (isBuilt) {
    proposeBuilt(draft, building, round.turn.certificate);
  } else {
    const timestamp = nextTimestamp(rules.schedule, height.parent.header, round.number, nowMs);
    draft.changeRound({ turn: { ...round.turn, building: "asked" } });
    draft.emit({ kind: "buildCandidate", id: draft.id, timestamp });
  }
}

/** Leads here: the answer to buildCandidate for the round in progress. */
export function onCandidateBuilt(draft: Draft, candidate: Candidate): void {
  const { turn } = draft.round;
  if (turn?.building !== "asked") return;
  assert(candidate.header.number === draft.id.height, "a candidate is built for the height in progress");
  assert(candidate.extra.round === draft.id.round, "a candidate is built for the round in progress");
  draft.changeRound({ turn: { ...turn, building: candidate } });
  continueTurn(draft);
}

/** Proposes the block that was prepared in an earlier round: we may not have executed it yet. */
export function proposePrepared(
  draft: Draft,
  prepared: Candidate,
  certificate: RoundChangeCertificate,
): void {
  const candidate = draft.rules.withRound(prepared, draft.round.number);
  announceProposal(draft, candidate, certificate);
  draft.emit({ kind: "checkCandidate", id: draft.id, candidate });
}

function proposeBuilt(draft: Draft, candidate: Candidate, certificate?: RoundChangeCertificate): void {
  announceProposal(draft, candidate, certificate);
  acceptProposal(draft);
}

function announceProposal(draft: Draft, candidate: Candidate, certificate?: RoundChangeCertificate): void {
  const { rules, id } = draft;
  const { digest } = candidate;
  draft.promise(digest);
  const signed = signPayload(rules, { kind: "proposal", ...id, digest } as const);
  const proposal: Proposal = {
    kind: "proposal",
    signed,
    candidate,
    ...(certificate !== undefined && { certificate }),
  };
  draft.changeRound({ trial: { proposal, verdict: "pending" } });
  draft.emit({ kind: "multicast", message: proposal });
}

/**
 * Leads here: a flawless message. The first proposal of a round is the only one we consider. One for a later round
 * brings the proof that a quorum asked for that round, so we go there (ibft2.md#future-round-proposals).
 */
export function onProposal(draft: Draft, proposal: Proposal): void {
  const { round: number } = proposal.signed.payload;
  if (number < draft.round.number) return;
  if (number > draft.round.number) startRound(draft, number);
  const { trial } = draft.round;
  if (trial !== undefined) {
    reportIfDouble(draft, trial.proposal, proposal);
    return;
  }
  draft.changeRound({ trial: { proposal, verdict: "pending" } });
  draft.emit({ kind: "checkCandidate", id: draft.id, candidate: proposal.candidate });
}

/** Leads here: the answer to checkCandidate for the round in progress. */
export function onCandidateChecked(draft: Draft, digest: Digest, sound: boolean): void {
  const { trial } = draft.round;
  if (trial?.verdict !== "pending" || !equalBytes(trial.proposal.candidate.digest, digest)) return;
  if (sound) acceptProposal(draft);
  else draft.changeRound({ trial: { ...trial, verdict: "refused" } });
}

/**
 * We stand behind the proposal: our Commit counts for us from now on, though others hear it only once the round is
 * prepared (ibft2.md#accepting-a-proposal). That is safe because a block it helps to decide is durable before
 * anyone hears of it.
 */
function acceptProposal(draft: Draft): void {
  const { rules, id } = draft;
  const trial = present(draft.round.trial, "a proposal on trial");
  const { digest } = trial.proposal.candidate;
  draft.promise(digest);
  draft.changeRound({ trial: { ...trial, verdict: "accepted" } });
  holdOwn(draft, {
    kind: "commit",
    signed: signPayload(rules, { kind: "commit", ...id, digest, seal: rules.sign(digest) } as const),
    sealer: rules.self,
  });
  if (!isProposer(draft.height.committee, id.round, rules.self)) {
    const prepare: Prepare = {
      kind: "prepare",
      signed: signPayload(rules, { kind: "prepare", ...id, digest } as const),
    };
    holdOwn(draft, prepare);
    draft.emit({ kind: "multicast", message: prepare });
  }
  countVotes(draft);
}

/** Leads here: a flawless message of the round in progress or a later one. */
export function onVote(draft: Draft, vote: Prepare | Commit): void {
  if (vote.signed.payload.round < draft.round.number || !holdFirst(draft, vote)) return;
  countVotes(draft);
}

/** Keeps a message unless its place is taken; true when it was kept. */
export function holdFirst(draft: Draft, message: Held): boolean {
  const earlier = findHeld(draft.height.inbox, message);
  if (earlier !== undefined) {
    reportIfDouble(draft, earlier, message);
    return false;
  }
  draft.changeHeight({ inbox: hold(draft.height.inbox, message) });
  return true;
}

/** Leads here: our own acceptance, and every vote that arrives. */
function countVotes(draft: Draft): void {
  const { height, round } = draft;
  const { committee, inbox } = height;
  if (round.trial?.verdict !== "accepted") return;
  const { signed: proposal, candidate } = round.trial.proposal;
  const prepares = preparesFor(inbox, round.number, candidate.digest);
  if (!isPrepared(height) && prepares.length >= committee.prepareQuorum) {
    const certificate = { proposal, prepares: prepares.map(({ signed }) => signed) };
    draft.changeHeight({ prepared: { certificate, candidate } });
    draft.promise(candidate.digest);
    draft.emit({ kind: "multicast", message: ownCommit(draft, candidate.digest) });
  }
  const commits = commitsFor(inbox, round.number, candidate.digest);
  if (commits.length >= committee.quorum) {
    const decision = { candidate, seals: commits.map(({ signed }) => signed.payload.seal) };
    draft.changeHeight({ decision });
    draft.emit({ kind: "commitBlock", ...decision });
  }
}

function ownCommit(draft: Draft, digest: Digest): Commit {
  const commits = commitsFor(draft.height.inbox, draft.round.number, digest);
  const own = commits.find(({ signed }) => equalBytes(signed.author, draft.rules.self));
  return present(own, "our Commit for a block that we accepted");
}

/** Our own place is free: a message of ours that came back to us is only repeated by then. */
function holdOwn(draft: Draft, message: Held): void {
  draft.changeHeight({ inbox: hold(draft.height.inbox, message) });
}

function reportIfDouble(draft: Draft, first: Proposal | Held, second: Proposal | Held): void {
  if (isDoubleVote(first, second)) draft.emit({ kind: "reportDoubleVote", first, second });
}
