import { encodeLastSigned, type LastSignedState } from "../ibft/lastSigned.ts";
import type { RoundId } from "../ibft/message.ts";
import type { Effect, Input, Rules, State } from "../ibft/state.ts";
import type { Logger } from "../observability/logger.ts";
import { assertNever, expectDefined } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import type { ConsensusMetrics } from "./consensusMetrics.ts";
import type { CandidateBuilder, CandidateChecker, Committer, Outbox, VoteLog } from "./ports.ts";
import { createSeenMessages } from "./router/seenMessages.ts";
import type { VoteProposals } from "./voteProposals.ts";

export interface EffectHandlerParts {
  readonly builder: CandidateBuilder;
  readonly checker: CandidateChecker;
  readonly committer: Committer;
  readonly voteLog: VoteLog;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Nothing is counted when absent. */
  readonly metrics?: ConsensusMetrics | undefined;
}

/** Performs the effects of the state machine. */
export interface EffectHandler {
  /** Resolves when the record is durable; the only effect that is awaited. */
  recordVote(record: LastSignedState): Promise<void>;
  /** Performs an effect that `state` emitted; slow work runs in the background and posts its result. */
  perform(effect: Exclude<Effect, { kind: "recordVote" }>, state: State): void;
  /** To be called with each new state: stops the validation for a round that was left. */
  stateChanged(state: State): void;
  /** Cancels timers and validation; later failures of running work are logged at debug level only. */
  end(): void;
  /** Resolves when no commit is in progress. Does not wait for building or validation, which have no lasting effect. */
  settled(): Promise<void>;
}

export function createEffectHandler(
  rules: Rules,
  parts: EffectHandlerParts & { readonly proposals: VoteProposals },
  post: (input: Input) => void,
): EffectHandler {
  const { builder, checker, committer, voteLog, outbox, clock, logger, metrics } = parts;
  const timers: Record<TimerKind, Timer | undefined> = { blockTimer: undefined, roundTimer: undefined };
  const commits = new Map<string, Promise<void>>();
  const reportedEquivocations = createSeenMessages(EQUIVOCATIONS_REMEMBERED);
  /** The proposal of the round in progress; only one is validated at a time. */
  let validation: { readonly id: RoundId; readonly controller: AbortController } | undefined;
  let hasEnded = false;

  /** Runs slow work. A failure is logged, and the round ends by its timer. */
  async function attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (hasEnded) logger.debug({ error }, `${what} was abandoned`);
      else logger.error({ error }, `${what} failed`);
    }
  }

  /** Replaces the timer of its kind, which is of an earlier round, or of the same round and due earlier. */
  function setTimer(kind: TimerKind, { id, atMs }: TimerEffect): void {
    timers[kind]?.cancel();
    timers[kind] = clock.at(atMs, () => post({ kind, id }));
  }

  /** Warns because our proposal is delayed until that time, which looks like a hanging node. */
  function warnIfClockIsBehind({ head }: State): void {
    const aheadMs = head === undefined ? 0 : Number(head.header.timestamp) * 1000 - clock.nowMs();
    if (aheadMs <= TIMESTAMP_SLACK_MS) return;
    logger.warn(
      { aheadMs },
      `the newest block is ${Math.ceil(aheadMs / 1000)} s ahead of this machine's clock, and no block can follow before ` +
        "that time. Is the clock right (timedatectl, chronyc tracking)?",
    );
  }

  async function build({ id, timestamp }: EffectOf<"buildCandidate">, state: State): Promise<void> {
    const parent = expectDefined(state.head, "the head to build on");
    const vote = parts.proposals.take(parent.tally, rules.self);
    const order = { parent, round: id.round, timestamp, ...(vote !== undefined && { vote }) };
    const building = builder.build(order);
    const candidate = await (metrics?.building(building) ?? building);
    // The builder logs why there is none.
    if (candidate !== undefined) post({ kind: "candidateBuilt", id, candidate });
  }

  async function check({ id, candidate }: EffectOf<"checkCandidate">): Promise<void> {
    stopValidation();
    const controller = new AbortController();
    validation = { id, controller };
    const isValid = await checker.check(candidate, controller.signal);
    if (isValid === undefined) return;
    post({ kind: "candidateChecked", id, digest: candidate.digest, sound: isValid });
  }

  function stopValidation(): void {
    validation?.controller.abort();
    validation = undefined;
  }

  async function commit({ candidate, seals }: EffectOf<"commitBlock">): Promise<void> {
    const committing = committer.commit(candidate, seals);
    await (metrics?.committing(committing) ?? committing);
  }

  /** Starts a commit, unless it runs already: the effect is emitted again while it takes long. */
  function beginCommit(effect: EffectOf<"commitBlock">): void {
    const key = toKey(effect.candidate.hash);
    if (commits.has(key)) return;
    const running = attempt("committing a decided block", () => commit(effect));
    commits.set(
      key,
      running.finally(() => commits.delete(key)),
    );
  }

  function multicast({ message }: EffectOf<"multicast">, state: State): void {
    const { height, round } = message.signed.payload;
    if (message.kind === "roundChange") logger.debug({ height, round }, "requesting another round");
    outbox.multicast(message, state.head?.tally.validators ?? []);
  }

  return {
    recordVote: (record) => voteLog.write(encodeLastSigned(record)),
    perform(effect, state) {
      switch (effect.kind) {
        case "multicast":
          multicast(effect, state);
          break;
        case "setBlockTimer":
          warnIfClockIsBehind(state);
          setTimer("blockTimer", effect);
          break;
        case "setRoundTimer":
          setTimer("roundTimer", effect);
          break;
        case "buildCandidate":
          void attempt("building a block", () => build(effect, state));
          break;
        case "checkCandidate":
          void attempt("checking a proposed block", () => check(effect));
          break;
        case "commitBlock":
          beginCommit(effect);
          break;
        case "rejectMessage": {
          const { kind, signed } = effect.message;
          logger.debug(
            { kind, author: signed.author, error: effect.error },
            "a consensus message is rejected",
          );
          break;
        }
        case "reportDoubleVote": {
          const { author, payload } = effect.first.signed;
          const { height, round, kind } = payload;
          if (reportedEquivocations.add(`${toKey(author)} ${height} ${round} ${kind}`))
            logger.warn(
              { author, height, round, kind },
              "a validator has signed two different blocks in one round",
            );
          break;
        }
        default:
          assertNever(effect);
      }
    },
    stateChanged({ height }) {
      if (validation === undefined) return;
      const { id } = validation;
      if (height?.validatorSet.height !== id.height || height.round.number !== id.round) stopValidation();
    },
    end() {
      hasEnded = true;
      stopValidation();
      timers.blockTimer?.cancel();
      timers.roundTimer?.cancel();
    },
    async settled() {
      await Promise.all(commits.values());
    },
  };
}

/** Each author, height, round and kind is logged once, however often a faulty validator repeats itself. */
const EQUIVOCATIONS_REMEMBERED = 1_000;

/** Tolerates rounded timestamps and small clock differences. */
const TIMESTAMP_SLACK_MS = 2000;

type TimerKind = "blockTimer" | "roundTimer";

type EffectOf<Kind extends Effect["kind"]> = Extract<Effect, { kind: Kind }>;

type TimerEffect = EffectOf<"setBlockTimer" | "setRoundTimer">;
