import { expectDefined } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { equalBytes } from "../primitives/hex.ts";
import { highestPrepared } from "./certificate.ts";
import type { PreparedBlock, RoundChange, RoundChangePayload } from "./message.ts";
import { addMessage, authorsFrom, roundChangesFor, roundChangesIn } from "./messageSet.ts";
import { signPayload } from "./payloadCodec.ts";
import { addFirst, beginDuty, proposePrepared, startRound } from "./round.ts";
import { roundTimeoutMs } from "./timeouts.ts";
import type { TransitionBuilder } from "./transitionBuilder.ts";
import { isProposer } from "./validatorSet.ts";

/**
 * Leaving a round that came to nothing: each validator says which round it wants and brings the block it saw prepared;
 * once a quorum wants the same round, its proposer proposes the block prepared last, or a new one if there is none.
 */

/** Leads here: the timer of the round in progress. */
export function onRoundTimeout(transition: TransitionBuilder): void {
  const { decision } = transition.height;
  if (decision === undefined && !isWorthStaying(transition)) {
    requestRound(transition, transition.round.number + 1);
    return;
  }
  const timeoutAtMs = transition.nowMs + roundTimeoutMs(transition.rules.schedule, transition.round.number);
  transition.changeRound({ timeoutAtMs });
  // The block is decided but not committed yet: asking for another round would only mislead others.
  if (decision !== undefined) transition.emit({ kind: "commitBlock", ...decision });
  transition.emit({ kind: "setRoundTimer", id: transition.id, atMs: timeoutAtMs });
}

/**
 * Where fewer than a quorum speak in our round or later ones, no round can succeed, and each that we ask for takes twice as
 * long: those who come back in round 0, as Besu does, would have to climb to us for as long as the network stood. So we
 * stay, and wait longer. Not for ever: what the others said may have got lost, and a later round is news to them.
 */
function isWorthStaying({ height, round, rules, nowMs }: TransitionBuilder): boolean {
  if (round.number === 0 || round.validation !== undefined) return false;
  const staysUntilMs =
    round.startedAtMs + TIMEOUTS_OF_LONELY_ROUND * roundTimeoutMs(rules.schedule, round.number);
  return nowMs < staysUntilMs && authorsFrom(height.messages, round.number) < height.validatorSet.quorum;
}

/** How many of its timeouts a round lasts in which fewer than a quorum are heard. */
const TIMEOUTS_OF_LONELY_ROUND = 8;

/** Leads here: a timeout; a restart in a height in which we had voted; enough others that are ahead of us. */
export function requestRound(transition: TransitionBuilder, number: number): void {
  startRound(transition, number);
  transition.recordVote();
  const message = ownRoundChange(transition, transition.height.prepared);
  transition.changeHeight({ messages: addMessage(transition.height.messages, message) });
  transition.emit({ kind: "multicast", message });
  goWhereQuorumAsks(transition, number);
}

/** Leads here: a flawless message. */
export function onRoundChange(transition: TransitionBuilder, message: RoundChange): void {
  const { round } = message.signed.payload;
  if (round < transition.round.number || !addFirst(transition, message)) return;
  const wanted = roundWantedByOthers(transition);
  if (wanted !== undefined) requestRound(transition, wanted);
  if (round >= transition.round.number) goWhereQuorumAsks(transition, round);
}

/** The certificate is exactly the first quorum that asked, in order of arrival (ibft2.md#new-round). */
function goWhereQuorumAsks(transition: TransitionBuilder, number: number): void {
  const { validatorSet, messages } = transition.height;
  const asking = roundChangesFor(messages, number).slice(0, validatorSet.quorum);
  if (asking.length < validatorSet.quorum) return;
  if (number > transition.round.number) startRound(transition, number);
  const { duty, validation } = transition.round;
  if (duty !== undefined || validation !== undefined) return;
  if (!isProposer(validatorSet, number, transition.rules.self)) return;
  const certificate = asking.map(({ signed }) => signed);
  const prepared = highestPrepared(certificate);
  if (prepared === undefined) {
    beginDuty(transition, certificate);
  } else {
    const bearer = asking.find(({ signed }) => signed.payload.prepared === prepared);
    proposePrepared(
      transition,
      expectDefined(bearer?.candidate, "the block of a prepared certificate"),
      certificate,
    );
  }
}

/**
 * When more validators than can be faulty ask for later rounds, an honest one is among them: we go along at once
 * instead of waiting for our own timer, or doubling timeouts would keep us apart for hours. It is but an early timeout.
 */
function roundWantedByOthers({ height, round, rules }: TransitionBuilder): number | undefined {
  const highestByAuthor = new Map<string, number>();
  for (const { signed } of roundChangesIn(height.messages)) {
    if (signed.payload.round <= round.number || equalBytes(signed.author, rules.self)) continue;
    const author = toKey(signed.author);
    highestByAuthor.set(author, Math.max(highestByAuthor.get(author) ?? 0, signed.payload.round));
  }
  const descending = [...highestByAuthor.values()].sort((a, b) => b - a);
  return descending[height.validatorSet.tolerableFaults];
}

function ownRoundChange(transition: TransitionBuilder, prepared: PreparedBlock | undefined): RoundChange {
  const payload: RoundChangePayload = {
    kind: "roundChange",
    ...transition.id,
    ...(prepared !== undefined && { prepared: prepared.certificate }),
  };
  return {
    kind: "roundChange",
    signed: signPayload(transition.rules, payload),
    ...(prepared !== undefined && { candidate: prepared.candidate }),
  };
}
