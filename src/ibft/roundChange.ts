import { present } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { equalBytes } from "../primitives/hex.ts";
import { highestPrepared } from "./certificate.ts";
import { isProposer } from "./committee.ts";
import type { Draft } from "./draft.ts";
import { authorsFrom, hold, roundChangesFor, roundChangesIn } from "./inbox.ts";
import type { PreparedBlock, RoundChange, RoundChangePayload } from "./message.ts";
import { signPayload } from "./payloadCodec.ts";
import { beginTurn, holdFirst, proposePrepared, startRound } from "./round.ts";
import { roundTimeoutMs } from "./timeouts.ts";

/**
 * Leaving a round that came to nothing: each validator says which round it wants and brings the block it saw prepared;
 * once a quorum wants the same round, its proposer proposes the block prepared last, or a new one if there is none.
 */

/** Leads here: the timer of the round in progress. */
export function onRoundTimeout(draft: Draft): void {
  const { decision } = draft.height;
  if (decision === undefined && !isWorthStaying(draft)) {
    askForRound(draft, draft.round.number + 1);
    return;
  }
  const timeoutAtMs = draft.nowMs + roundTimeoutMs(draft.rules.schedule, draft.round.number);
  draft.changeRound({ timeoutAtMs });
  // The block is decided but not committed yet: asking for another round would only mislead others.
  if (decision !== undefined) draft.emit({ kind: "commitBlock", ...decision });
  draft.emit({ kind: "setRoundTimer", id: draft.id, atMs: timeoutAtMs });
}

/**
 * Where fewer than a quorum speak in our round or later ones, no round can succeed, and each that we ask for takes twice as
 * long: those who come back in round 0, as Besu does, would have to climb to us for as long as the network stood. So we
 * stay, and wait longer. Not for ever: what the others said may have got lost, and a later round is news to them.
 */
function isWorthStaying({ height, round, rules, nowMs }: Draft): boolean {
  if (round.number === 0 || round.trial !== undefined) return false;
  const staysUntilMs =
    round.startedAtMs + TIMEOUTS_OF_LONELY_ROUND * roundTimeoutMs(rules.schedule, round.number);
  return nowMs < staysUntilMs && authorsFrom(height.inbox, round.number) < height.committee.quorum;
}

/** How many of its timeouts a round lasts in which fewer than a quorum are heard. */
const TIMEOUTS_OF_LONELY_ROUND = 8;

/** Leads here: a timeout; a restart in a height in which we had voted; enough others that are ahead of us. */
export function askForRound(draft: Draft, number: number): void {
  startRound(draft, number);
  draft.promise();
  const message = ownRoundChange(draft, draft.height.prepared);
  draft.changeHeight({ inbox: hold(draft.height.inbox, message) });
  draft.emit({ kind: "multicast", message });
  goWhereQuorumAsks(draft, number);
}

/** Leads here: a flawless message. */
export function onRoundChange(draft: Draft, message: RoundChange): void {
  const { round } = message.signed.payload;
  if (round < draft.round.number || !holdFirst(draft, message)) return;
  const wanted = roundWantedByOthers(draft);
  if (wanted !== undefined) askForRound(draft, wanted);
  if (round >= draft.round.number) goWhereQuorumAsks(draft, round);
}

/** The certificate is exactly the first quorum that asked, in order of arrival (ibft2.md#new-round). */
function goWhereQuorumAsks(draft: Draft, number: number): void {
  const { committee, inbox } = draft.height;
  const asking = roundChangesFor(inbox, number).slice(0, committee.quorum);
  if (asking.length < committee.quorum) return;
  if (number > draft.round.number) startRound(draft, number);
  const { turn, trial } = draft.round;
  if (turn !== undefined || trial !== undefined) return;
  if (!isProposer(committee, number, draft.rules.self)) return;
  const certificate = asking.map(({ signed }) => signed);
  const prepared = highestPrepared(certificate);
  if (prepared === undefined) {
    beginTurn(draft, certificate);
  } else {
    const bearer = asking.find(({ signed }) => signed.payload.prepared === prepared);
    proposePrepared(draft, present(bearer?.candidate, "the block of a prepared certificate"), certificate);
  }
}

/**
 * When more validators than can be faulty ask for later rounds, an honest one is among them: we go along at once
 * instead of waiting for our own timer, or doubling timeouts would keep us apart for hours. It is but an early timeout.
 */
function roundWantedByOthers({ height, round, rules }: Draft): number | undefined {
  const highestByAuthor = new Map<string, number>();
  for (const { signed } of roundChangesIn(height.inbox)) {
    if (signed.payload.round <= round.number || equalBytes(signed.author, rules.self)) continue;
    const author = toKey(signed.author);
    highestByAuthor.set(author, Math.max(highestByAuthor.get(author) ?? 0, signed.payload.round));
  }
  const descending = [...highestByAuthor.values()].sort((a, b) => b - a);
  return descending[height.committee.tolerableFaults];
}

function ownRoundChange(draft: Draft, prepared: PreparedBlock | undefined): RoundChange {
  const payload: RoundChangePayload = {
    kind: "roundChange",
    ...draft.id,
    ...(prepared !== undefined && { prepared: prepared.certificate }),
  };
  return {
    kind: "roundChange",
    signed: signPayload(draft.rules, payload),
    ...(prepared !== undefined && { candidate: prepared.candidate }),
  };
}
