import { assert, expectDefined } from "../primitives/assert.ts";
import { equalBytes } from "../primitives/hex.ts";
import { type Digest, sealPreimage } from "../types/blockHash.ts";
import type { Candidate } from "./candidate.ts";
import type { Commit, Prepare, Proposal, RoundChangeCertificate } from "./message.ts";
import {
  addMessage,
  commitsFor,
  dropRoundsBefore,
  findMessage,
  isDoubleVote,
  preparesFor,
  type RoundMessage,
} from "./messageSet.ts";
import { earliestTimestamp, nextTimestamp, roundTimeoutMs } from "./roundTimes.ts";
import { isPrepared, type Round, type Rules } from "./state.ts";
import type { TransitionBuilder } from "./transitionBuilder.ts";
import { isProposer } from "./validatorSet.ts";

/**
 * One round: its proposer proposes a block, a quorum prepares it, a quorum seals it.
 *
 *   our duty -> building -> built ---+
 *                                    +-> accepted -> prepared -> decided
 *   proposal -> validating -> valid -+                  (commits alone may decide as well)
 */

/** A round that starts now. Its timer runs from now: in round 0, from the arrival of the head. */
export function newRound(rules: Rules, number: number, nowMs: number): Round {
  const timeoutAtMs = nowMs + roundTimeoutMs(rules.schedule, number);
  return { number, startedAtMs: nowMs, timeoutAtMs, duty: undefined, validation: undefined };
}

/** Leaves the round in progress, if any, for a later one, or starts round 0. */
export function startRound(transition: TransitionBuilder, number: number): void {
  const round = newRound(transition.rules, number, transition.nowMs);
  gatherPrepares(transition);
  transition.changeHeight({ round, messages: dropRoundsBefore(transition.height.messages, number) });
  transition.emit({ kind: "setRoundTimer", id: transition.id, atMs: round.timeoutAtMs });
}

/**
 * Adds further Prepares to our certificate: a quorum made the round prepared, but the certificate has all that we received
 * (ibft2.md#round-expiry).
 */
function gatherPrepares(transition: TransitionBuilder): void {
  const { prepared, messages, round } = transition.height;
  if (prepared === undefined || !isPrepared(transition.height)) return;
  const { certificate, candidate } = prepared;
  const prepares = preparesFor(messages, round.number, candidate.digest).map(({ signed }) => signed);
  // After a restart the recorded certificate may have more Prepares than we have received again.
  if (prepares.length <= certificate.prepares.length) return;
  transition.changeHeight({ prepared: { candidate, certificate: { ...certificate, prepares } } });
}

/** Runs in round 0 if we are its proposer, and when a quorum requests our round without a prepared block. */
export function beginDuty(transition: TransitionBuilder, certificate?: RoundChangeCertificate): void {
  transition.changeRound({ duty: { building: "notYet", certificate } });
  continueDuty(transition);
}

/** Builds and proposes as far as the time allows. Runs when the duty begins, on the block timer, and on a built candidate. */
export function continueDuty(transition: TransitionBuilder): void {
  const { round, height, rules, nowMs } = transition;
  if (round.duty === undefined || round.validation !== undefined) return;
  const { building } = round.duty;
  const proposeAtMs = Number(earliestTimestamp(rules.schedule, height.parent.header)) * 1000;
  if (building === "asked") return;
  // This holds for a built block only if the clock was set back.
  if (nowMs < proposeAtMs) {
    transition.emit({ kind: "setBlockTimer", id: transition.id, atMs: proposeAtMs });
  } else if (building !== "notYet") {
    proposeBuilt(transition, building, round.duty.certificate);
  } else {
    const timestamp = nextTimestamp(rules.schedule, height.parent.header, round.number, nowMs);
    transition.changeRound({ duty: { ...round.duty, building: "asked" } });
    transition.emit({ kind: "buildCandidate", id: transition.id, timestamp });
  }
}

/** Handles the result of buildCandidate for the round in progress. */
export function onCandidateBuilt(transition: TransitionBuilder, candidate: Candidate): void {
  const { duty } = transition.round;
  if (duty?.building !== "asked") return;
  assert(candidate.header.number === transition.id.height, "a candidate is built for the height in progress");
  assert(candidate.extra.round === transition.id.round, "a candidate is built for the round in progress");
  transition.changeRound({ duty: { ...duty, building: candidate } });
  continueDuty(transition);
}

/** Proposes the block prepared in an earlier round. We may not have executed it yet, so it is validated as well. */
export function proposePrepared(
  transition: TransitionBuilder,
  prepared: Candidate,
  certificate: RoundChangeCertificate,
): void {
  const candidate = transition.rules.withRound(prepared, transition.round.number);
  if (!announceProposal(transition, candidate, certificate)) return;
  transition.emit({ kind: "checkCandidate", id: transition.id, candidate });
}

function proposeBuilt(
  transition: TransitionBuilder,
  candidate: Candidate,
  certificate?: RoundChangeCertificate,
): void {
  if (announceProposal(transition, candidate, certificate)) acceptProposal(transition);
}

/** False when a signature is awaited. */
function announceProposal(
  transition: TransitionBuilder,
  candidate: Candidate,
  certificate?: RoundChangeCertificate,
): boolean {
  const { id } = transition;
  const { digest } = candidate;
  transition.recordVote(digest);
  const signed = transition.signPayload({ kind: "proposal", ...id, digest } as const);
  if (signed === undefined) return false;
  const proposal: Proposal = {
    kind: "proposal",
    signed,
    candidate,
    ...(certificate !== undefined && { certificate }),
  };
  transition.changeRound({ validation: { proposal, result: "pending" } });
  transition.emit({ kind: "multicast", message: proposal });
  return true;
}

/**
 * Handles a valid message. Only the first proposal of a round is considered. One for a later round proves that a quorum
 * requested that round, so we move there (ibft2.md#future-round-proposals).
 */
export function onProposal(transition: TransitionBuilder, proposal: Proposal): void {
  const { round: number } = proposal.signed.payload;
  if (number < transition.round.number) return;
  if (number > transition.round.number) startRound(transition, number);
  const { validation } = transition.round;
  if (validation !== undefined) {
    reportIfDouble(transition, validation.proposal, proposal);
    return;
  }
  transition.changeRound({ validation: { proposal, result: "pending" } });
  transition.emit({ kind: "checkCandidate", id: transition.id, candidate: proposal.candidate });
}

/** Handles the result of checkCandidate for the round in progress. */
export function onCandidateChecked(transition: TransitionBuilder, digest: Digest, sound: boolean): void {
  const { validation } = transition.round;
  if (validation?.result !== "pending" || !equalBytes(validation.proposal.candidate.digest, digest)) return;
  if (sound) acceptProposal(transition);
  else transition.changeRound({ validation: { ...validation, result: "refused" } });
}

/**
 * Accepts the proposal. Our own Commit counts from now on, but is sent only once the round is prepared
 * (ibft2.md#accepting-a-proposal). That is safe because a block that it helps to decide is durable before it is
 * announced.
 */
export function acceptProposal(transition: TransitionBuilder): void {
  const validation = expectDefined(transition.round.validation, "a proposal in validation");
  const { candidate } = validation.proposal;
  transition.recordVote(candidate.digest);
  const votes = ownVotes(transition, candidate);
  transition.changeRound({
    validation: { ...validation, result: votes === undefined ? "sound" : "accepted" },
  });
  if (votes !== undefined) addVotes(transition, votes);
  countVotes(transition);
}

interface OwnVotes {
  readonly commit: Commit;
  readonly prepare?: Prepare;
}

function addVotes(transition: TransitionBuilder, { commit, prepare }: OwnVotes): void {
  addOwn(transition, commit);
  if (prepare === undefined) return;
  addOwn(transition, prepare);
  transition.emit({ kind: "multicast", message: prepare });
}

/** Our Commit and, unless we are the proposer, our Prepare; undefined when a signature is awaited. */
function ownVotes(transition: TransitionBuilder, candidate: Candidate): OwnVotes | undefined {
  const { digest, header, extra } = candidate;
  const { rules, id, height } = transition;
  const seal = transition.sign(digest, () => sealPreimage(header, extra));
  // The Prepare's signature is requested together with the seal.
  const prepare = isProposer(height.validatorSet, id.round, rules.self)
    ? "none"
    : transition.signPayload({ kind: "prepare", ...id, digest } as const);
  const signed = seal && transition.signPayload({ kind: "commit", ...id, digest, seal } as const);
  if (signed === undefined || prepare === undefined) return undefined;
  const commit: Commit = { kind: "commit", signed, sealer: rules.self };
  return { commit, ...(prepare !== "none" && { prepare: { kind: "prepare", signed: prepare } }) };
}

/** Handles a valid Prepare or Commit; those of earlier rounds are ignored. */
export function onVote(transition: TransitionBuilder, vote: Prepare | Commit): void {
  if (vote.signed.payload.round < transition.round.number || !addFirst(transition, vote)) return;
  countVotes(transition);
}

/** Adds a message unless its author sent one of the same kind and round; true when it was added. */
export function addFirst(transition: TransitionBuilder, message: RoundMessage): boolean {
  const earlier = findMessage(transition.height.messages, message);
  if (earlier !== undefined) {
    reportIfDouble(transition, earlier, message);
    return false;
  }
  transition.changeHeight({ messages: addMessage(transition.height.messages, message) });
  return true;
}

/**
 * Runs after our own acceptance and after every vote that arrives. While our signatures are awaited, the others' Commits
 * may decide the block, but we are not prepared: that takes our Commit.
 */
function countVotes(transition: TransitionBuilder): void {
  const { height, round } = transition;
  const { validatorSet, messages } = height;
  const { result } = round.validation ?? {};
  if (round.validation === undefined || (result !== "accepted" && result !== "sound")) return;
  const { signed: proposal, candidate } = round.validation.proposal;
  const prepares = preparesFor(messages, round.number, candidate.digest);
  if (result === "accepted" && !isPrepared(height) && prepares.length >= validatorSet.prepareQuorum) {
    const certificate = { proposal, prepares: prepares.map(({ signed }) => signed) };
    transition.changeHeight({ prepared: { certificate, candidate } });
    transition.recordVote(candidate.digest);
    transition.emit({ kind: "multicast", message: ownCommit(transition, candidate.digest) });
  }
  const commits = commitsFor(messages, round.number, candidate.digest);
  if (commits.length >= validatorSet.quorum) {
    const decision = { candidate, seals: commits.map(({ signed }) => signed.payload.seal) };
    transition.changeHeight({ decision });
    transition.emit({ kind: "commitBlock", ...decision });
  }
}

function ownCommit(transition: TransitionBuilder, digest: Digest): Commit {
  const commits = commitsFor(transition.height.messages, transition.round.number, digest);
  const own = commits.find(({ signed }) => equalBytes(signed.author, transition.rules.self));
  return expectDefined(own, "our Commit for an accepted block");
}

/** Adds our own message; no other of the same kind and round can be in the set, since relayed ones are ignored. */
function addOwn(transition: TransitionBuilder, message: RoundMessage): void {
  transition.changeHeight({ messages: addMessage(transition.height.messages, message) });
}

function reportIfDouble(
  transition: TransitionBuilder,
  first: Proposal | RoundMessage,
  second: Proposal | RoundMessage,
): void {
  if (isDoubleVote(first, second)) transition.emit({ kind: "reportEquivocation", first, second });
}
