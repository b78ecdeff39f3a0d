import { expectDefined } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { PreparedBlock, RoundChange, RoundChangePayload } from "./message.ts";
import { highestPrepared } from "./messageRules.ts";
import { addMessage, authorsFrom, roundChangesFor, roundChangesIn } from "./messageSet.ts";
import { acceptProposal, addFirst, beginDuty, continueDuty, proposePrepared, startRound } from "./round.ts";
import { roundTimeoutMs } from "./roundTimes.ts";
import type { OwnSignature } from "./state.ts";
import type { TransitionBuilder } from "./transitionBuilder.ts";
import { isProposer } from "./validatorSet.ts";

/**
 * Leaving a failed round: each validator requests a later round and includes the block it saw prepared. Once a quorum
 * requests the same round, its proposer proposes the block prepared last, or a new one if there is none.
 */

/** Handles the timer of the round in progress. */
export function onRoundTimeout(transition: TransitionBuilder): void {
  const { decision } = transition.height;
  if (decision === undefined && !shouldStay(transition)) {
    requestRound(transition, transition.round.number + 1);
    return;
  }
  const timeoutAtMs = transition.nowMs + roundTimeoutMs(transition.rules.schedule, transition.round.number);
  transition.changeRound({ timeoutAtMs });
  // The block is decided but not committed yet: requesting another round would only mislead others.
  if (decision !== undefined) transition.emit({ kind: "commitBlock", ...decision });
  transition.emit({ kind: "setRoundTimer", id: transition.id, atMs: timeoutAtMs });
}

/**
 * While fewer than a quorum send messages of our round or later ones, no round can succeed, and each further round lasts
 * twice as long: validators that restart in round 0, as Besu does, would need as long as the outage to reach our round. So
 * we stay and wait longer, but not for ever: messages may have been lost, and a request for a later round is a new message.
 */
function shouldStay({ height, round, rules, nowMs }: TransitionBuilder): boolean {
  if (round.number === 0 || round.validation !== undefined) return false;
  const staysUntilMs =
    round.startedAtMs + TIMEOUTS_WITHOUT_QUORUM * roundTimeoutMs(rules.schedule, round.number);
  return nowMs < staysUntilMs && authorsFrom(height.messages, round.number) < height.validatorSet.quorum;
}

/** Number of timeouts that a round lasts while fewer than a quorum are heard. */
const TIMEOUTS_WITHOUT_QUORUM = 8;

/** Runs on a timeout, after a restart at a height at which we had signed, and when enough others are ahead of us. */
export function requestRound(transition: TransitionBuilder, number: number): void {
  startRound(transition, number);
  transition.recordVote();
  announceRoundChange(transition);
}

function announceRoundChange(transition: TransitionBuilder): void {
  const message = ownRoundChange(transition, transition.height.prepared);
  if (message === undefined) return;
  transition.changeHeight({ messages: addMessage(transition.height.messages, message) });
  transition.emit({ kind: "multicast", message });
  moveToRequestedRound(transition, transition.round.number);
}

/**
 * Handles a remote signer's signature for the round in progress: repeats what could not be signed before. The steps are the
 * same as with a local key, so they find the same record, and cannot sign anything else (ibft2.md#remote-signer).
 */
export function onSigned(transition: TransitionBuilder, signature: OwnSignature): void {
  const { signatures = [], validation } = transition.round;
  if (transition.height.decision !== undefined) return;
  if (signatures.some(({ digest }) => equalBytes(digest, signature.digest))) return;
  transition.changeRound({ signatures: [...signatures, signature] });
  if (validation !== undefined) {
    if (validation.result === "sound") acceptProposal(transition);
    return;
  }
  if (isRequestUnsent(transition)) announceRoundChange(transition);
  if (transition.round.duty !== undefined) continueDuty(transition);
  else moveToRequestedRound(transition, transition.round.number);
}

/** Whether we have recorded a request for the round in progress, and no vote in it, but have not sent it yet. */
function isRequestUnsent({ rules, state, height, round }: TransitionBuilder): boolean {
  const { lastSigned } = state;
  if (lastSigned?.height !== height.validatorSet.height || lastSigned.round !== round.number) return false;
  if (lastSigned.digest !== undefined) return false;
  const sent = roundChangesFor(height.messages, round.number);
  return !sent.some(({ signed }) => equalBytes(signed.author, rules.self));
}

/** Handles a valid message. */
export function onRoundChange(transition: TransitionBuilder, message: RoundChange): void {
  const { round } = message.signed.payload;
  if (round < transition.round.number || !addFirst(transition, message)) return;
  const joined = roundRequestedByOthers(transition);
  if (joined !== undefined) requestRound(transition, joined);
  if (round >= transition.round.number) moveToRequestedRound(transition, round);
}

/** The certificate is exactly the first quorum of requests, in order of arrival (ibft2.md#new-round). */
function moveToRequestedRound(transition: TransitionBuilder, number: number): void {
  const { validatorSet, messages } = transition.height;
  const requests = roundChangesFor(messages, number).slice(0, validatorSet.quorum);
  if (requests.length < validatorSet.quorum) return;
  if (number > transition.round.number) startRound(transition, number);
  const { duty, validation } = transition.round;
  if (duty !== undefined || validation !== undefined) return;
  if (!isProposer(validatorSet, number, transition.rules.self)) return;
  const certificate = requests.map(({ signed }) => signed);
  const prepared = highestPrepared(certificate);
  if (prepared === undefined) {
    beginDuty(transition, certificate);
  } else {
    const carrier = requests.find(({ signed }) => signed.payload.prepared === prepared);
    proposePrepared(
      transition,
      expectDefined(carrier?.candidate, "the block of a prepared certificate"),
      certificate,
    );
  }
}

/**
 * The join rule: when more validators than can be faulty request later rounds, at least one is honest, so we join at once
 * instead of waiting for our own timer; doubling timeouts would keep us apart for hours. It equals an early timeout.
 */
function roundRequestedByOthers({ height, round, rules }: TransitionBuilder): number | undefined {
  const highestByAuthor = new Map<string, number>();
  for (const { signed } of roundChangesIn(height.messages)) {
    if (signed.payload.round <= round.number || equalBytes(signed.author, rules.self)) continue;
    const author = toKey(signed.author);
    highestByAuthor.set(author, Math.max(highestByAuthor.get(author) ?? 0, signed.payload.round));
  }
  const descending = [...highestByAuthor.values()].sort((a, b) => b - a);
  return descending[height.validatorSet.tolerableFaults];
}

/** Undefined when its signature is awaited. */
function ownRoundChange(
  transition: TransitionBuilder,
  prepared: PreparedBlock | undefined,
): RoundChange | undefined {
  const payload: RoundChangePayload = {
    kind: "roundChange",
    ...transition.id,
    ...(prepared !== undefined && { prepared: prepared.certificate }),
  };
  const signed = transition.signPayload(payload);
  if (signed === undefined) return undefined;
  return {
    kind: "roundChange",
    signed,
    ...(prepared !== undefined && { candidate: prepared.candidate }),
  };
}
