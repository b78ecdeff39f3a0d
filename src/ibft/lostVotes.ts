import { type IbftSchedule, parametersAt } from "../chainspec/ibftParameters.ts";
import type { Address } from "../primitives/address.ts";
import { assertNever } from "../primitives/assert.ts";
import { equalBytes } from "../primitives/hex.ts";
import { larger } from "../primitives/quantity.ts";
import type { Doubt, DoubtReason, LastSignedState } from "./lastSigned.ts";
import type { Payload, PreparedCertificate, Signed, SignedMessage } from "./message.ts";
import type { Input, Rules, State } from "./state.ts";
import type { Head } from "./validatorSet.ts";
import { isValidator } from "./validatorVotes.ts";

/**
 * Decides when our record may lack votes that our key has signed, and how long we are silent then (ibft2.md#lost-votes).
 *
 *   no record, chain above genesis --+
 *   a seal of ours above the record -+-> doubt -> silent -> head past every height in question -> we take part again
 *   a message that it cannot explain-+
 *
 * Everything that our key signed before a moment belongs to a height whose parent was known then. So a head that is past our
 * own first one, and has a later time than that moment, is past every height at which we may have voted.
 */

/** Seconds that a head must be newer than the moment of the doubt: the clocks of two validators and the rounding differ. */
const DOUBT_SECONDS = 5n;

/**
 * The longer wait after messages or seals of our own key appeared: a second node may run with it, and is heard from only now
 * and then.
 */
const OWN_KEY_DOUBT_SECONDS = 10n;

/** A network whose first block is at most this much older than our first start, in seconds, began with us. */
const BIRTH_SECONDS = 30n;

/**
 * Whether to look for a seal of ours in a block above our record: the first such blocks reveal an old record, and a few
 * others.
 */
export function isSealSought({ head, lastSigned }: State, self: Address, number: bigint): boolean {
  if (head === undefined || !isValidator(head.tally, self)) return false;
  const above = number - (lastSigned === undefined ? 0n : lastKnownHeight(lastSigned));
  return above > 0n && (above <= SEALS_SOUGHT || above % SEALS_SOUGHT === 0n);
}

/** Whether a node should listen before its first vote, because its record may be a copy that another node continues from. */
export function isListeningDue({ self }: Rules, record: LastSignedState, { tally }: Head): boolean {
  if (tally.validators.length < 2 || !isValidator(tally, self)) return false;
  return record.doubt === undefined;
}

/** The height up to which seals of ours raise no doubt. */
export function lastKnownHeight({ height, forgotten = 0n }: LastSignedState): bigint {
  return larger(height, forgotten);
}

/** Recovering a signer takes 45 µs, and a node that has been away for long catches up with many blocks. */
const SEALS_SOUGHT = 16n;

/** The record, with any doubt, with which a node starts. */
export function stateAtStart(
  rules: Rules,
  { head, record, isSealedAbove }: Extract<Input, { kind: "started" }>,
  nowMs: number,
): Pick<State, "lastSigned" | "isNewborn"> {
  const isNewborn = record === undefined && head.header.number === 0n;
  if (isAlone(rules, head) || isNewborn)
    return { lastSigned: record && withoutDoubt(record, head), isNewborn };
  if (record === undefined) {
    return { lastSigned: withDoubt(nothingAbove(0n), head, "missing", nowMs), isNewborn };
  }
  const isOld = isSealedAbove === true && record.doubt === undefined;
  return { lastSigned: isOld ? withDoubt(record, head, "old", nowMs) : record, isNewborn };
}

/** The record after a new head, which ends doubts or raises one. */
export function recordAtHead(
  rules: Rules,
  state: State,
  { head, ownSeal }: Extract<Input, { kind: "headAdvanced" }>,
  nowMs: number,
): LastSignedState | undefined {
  const { lastSigned, isNewborn, startedAtMs } = state;
  const { number } = head.header;
  if (isAlone(rules, head)) return lastSigned && withoutDoubt(lastSigned, head);
  if (isNewborn && !isBornWith(rules.schedule, head, startedAtMs))
    return withDoubt(lastSigned ?? nothingAbove(0n), head, "missing", startedAtMs);
  const record = lastSigned ?? nothingAbove(number);
  const { doubt } = record;
  const unknown = ownSeal !== undefined && ownSeal.number > lastKnownHeight(record) ? ownSeal : undefined;
  if (doubt === undefined)
    return unknown ? withDoubt(record, head, freshness(state, unknown.timestamp), nowMs) : record;
  if (!isPast(doubt, head)) return record;
  // Everything that we signed before the doubt began is older than this block: another node with our key has sealed it.
  return unknown?.number === number ? withDoubt(record, head, "ownKey", nowMs) : withoutDoubt(record, head);
}

/**
 * The record after a message of our own key, whichever node relayed it; unchanged when we can have sent that message. A
 * sound record always explains a message that we sent before and others send again.
 */
export function recordAtOwnMessage(
  rules: Rules,
  state: State,
  message: SignedMessage,
  nowMs: number,
): LastSignedState | undefined {
  const { head, lastSigned } = state;
  if (head === undefined || isAlone(rules, head)) return lastSigned;
  const record = lastSigned ?? nothingAbove(head.header.number);
  let highest = 0n;
  for (const { author, payload } of signedIn(message)) {
    if (!equalBytes(author, rules.self)) continue;
    if (!isExplained(record, payload)) highest = larger(highest, payload.height);
  }
  if (highest === 0n) return lastSigned;
  const upTo = larger(highest, record.doubt?.upTo ?? 0n);
  // A doubt about the same heights already covers this message, unless the height began after our start.
  if (
    record.doubt !== undefined &&
    upTo === record.doubt.upTo &&
    freshness(state, head.header.timestamp) === "old"
  )
    return record;
  const { doubt, ...rest } = withDoubt(record, head, freshness(state, head.header.timestamp), nowMs);
  return { ...rest, doubt: { ...doubt, upTo: larger(upTo, doubt.upTo) } };
}

/**
 * The record after another node with our key has announced that it takes part; unchanged when we are no validator, or the
 * only one.
 */
export function recordAtClaim(rules: Rules, state: State, nowMs: number): LastSignedState | undefined {
  const { head, lastSigned } = state;
  if (head === undefined || isAlone(rules, head) || !isValidator(head.tally, rules.self)) return lastSigned;
  return withDoubt(lastSigned ?? nothingAbove(head.header.number), head, "ownKey", nowMs);
}

/** A record that says that nothing was signed above a height. */
export function nothingAbove(height: bigint): LastSignedState {
  return { height, round: 0, digest: undefined, prepared: undefined };
}

/**
 * The record with which a node starts whose votes at a height were deliberately forgotten: it may vote at that height again.
 */
export function forgottenAt(height: bigint): LastSignedState {
  return { ...nothingAbove(height - 1n), forgotten: height };
}

function withDoubt(
  record: LastSignedState,
  { header }: Head,
  reason: DoubtReason,
  nowMs: number,
): LastSignedState & { readonly doubt: Doubt } {
  const seconds = reason === "ownKey" ? OWN_KEY_DOUBT_SECONDS : DOUBT_SECONDS;
  const { height, round, digest, prepared, doubt } = record;
  return {
    height,
    round,
    digest,
    prepared,
    doubt: {
      reason,
      upTo: larger(header.number + 1n, doubt?.upTo ?? 0n),
      untilTimestamp: larger(BigInt(Math.ceil(nowMs / 1000)) + seconds, doubt?.untilTimestamp ?? 0n),
    },
  };
}

/** The record once everything that it may lack is past: votes up to the head no longer bind anyone. */
function withoutDoubt(record: LastSignedState, { header }: Head): LastSignedState {
  if (record.doubt === undefined) return record;
  const { doubt: _ended, ...kept } = record;
  return kept.height > header.number ? kept : nothingAbove(header.number);
}

/** True when the head is past every height in which we may have voted. */
function isPast({ upTo, untilTimestamp }: Doubt, { header }: Head): boolean {
  return header.number >= upTo && header.timestamp >= untilTimestamp;
}

/** A sole validator contradicts nobody: it alone decides the chain. */
function isAlone({ self }: Rules, { tally }: Head): boolean {
  const [only, ...others] = tally.validators;
  return only !== undefined && others.length === 0 && equalBytes(only, self);
}

/** Whether the network began when we did, judging by the latest time that its first block can have. */
function isBornWith(schedule: IbftSchedule, { header }: Head, startedAtMs: number): boolean {
  const { blockPeriodSeconds } = parametersAt(schedule, header.number);
  const firstBlock = header.timestamp - (header.number - 1n) * BigInt(blockPeriodSeconds);
  return firstBlock + BIRTH_SECONDS >= BigInt(Math.floor(startedAtMs / 1000));
}

/** Whether a signature of our key for a block of that time, or after it, may stem from before our start. */
function freshness({ startedAtMs }: State, timestamp: bigint): "old" | "ownKey" {
  return timestamp >= BigInt(Math.ceil(startedAtMs / 1000)) + DOUBT_SECONDS ? "ownKey" : "old";
}

function isExplained(record: LastSignedState, payload: Payload): boolean {
  const { height, round, digest, forgotten = 0n } = record;
  if (payload.height <= forgotten) return true;
  if (payload.height !== height) return payload.height < height;
  if (payload.round !== round || payload.kind === "roundChange") return payload.round <= round;
  return digest !== undefined && equalBytes(digest, payload.digest);
}

/** All signed payloads of a message: its own, and those in its certificates. */
function* signedIn(message: SignedMessage): Iterable<Signed<Payload>> {
  yield message.signed;
  switch (message.kind) {
    case "proposal":
      for (const request of message.certificate ?? []) {
        yield request;
        yield* signedInCertificate(request.payload.prepared);
      }
      break;
    case "roundChange":
      yield* signedInCertificate(message.signed.payload.prepared);
      break;
    case "prepare":
    case "commit":
      break;
    default:
      assertNever(message);
  }
}

function* signedInCertificate(prepared: PreparedCertificate | undefined): Iterable<Signed<Payload>> {
  if (prepared === undefined) return;
  yield prepared.proposal;
  yield* prepared.prepares;
}
