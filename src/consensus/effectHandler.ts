import type { Effect } from "../ibft/effect.ts";
import type { Input } from "../ibft/input.ts";
import { encodeLastSigned, type LastSignedState } from "../ibft/lastSigned.ts";
import type { RoundId } from "../ibft/roundId.ts";
import type { Rules, State } from "../ibft/state.ts";
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
  /** Absent: nothing is counted. */
  readonly metrics?: ConsensusMetrics | undefined;
}

/** The hands of the machine. */
export interface EffectHandler {
  /** Resolves when the record is durable; the only effect that is waited for. */
  recordVote(record: LastSignedState): Promise<void>;
  /** Does what the machine asks, in the state it asked it in; slow work goes on by itself and its answer is posted. */
  perform(effect: Exclude<Effect, { kind: "recordVote" }>, state: State): void;
  /** To be told of each new state: what is validated for a round that it has left is stopped. */
  follow(state: State): void;
  /** Cancels alarms; what still goes wrong in work under way is no news any more. */
  end(): void;
  /** Resolves when no commit is under way. What is being built or checked leaves no trace and is not waited for. */
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
  /** The proposal of the round in progress: never more than one is validated at a time. */
  let validation: { readonly id: RoundId; readonly controller: AbortController } | undefined;
  let hasEnded = false;

  /** Slow work. A failure in it is told and leaves the round to its timer. */
  async function attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (hasEnded) logger.debug({ error }, `${what} was abandoned`);
      else logger.error({ error }, `${what} failed`);
    }
  }

  /** A later timer of a kind is always of a later round, or of the same round and later. */
  function setTimer(kind: TimerKind, { id, atMs }: TimerEffect): void {
    timers[kind]?.cancel();
    timers[kind] = clock.at(atMs, () => post({ kind, id }));
  }

  /** Our turn then begins much later than it should, which looks like a node that has hung. */
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
    // The builder has said why.
    if (candidate !== undefined) post({ kind: "candidateBuilt", id, candidate });
  }

  async function check({ id, candidate }: EffectOf<"checkCandidate">): Promise<void> {
    stopValidation();
    const controller = new AbortController();
    validation = { id, controller };
    const sound = await checker.check(candidate, controller.signal);
    if (sound === undefined) return;
    post({ kind: "candidateChecked", id, digest: candidate.digest, sound });
  }

  function stopValidation(): void {
    validation?.controller.abort();
    validation = undefined;
  }

  async function commit({ candidate, seals }: EffectOf<"commitBlock">): Promise<void> {
    const committing = committer.commit(candidate, seals);
    await (metrics?.committing(committing) ?? committing);
  }

  /** A commit is asked for again when it takes long; the one under way goes on. */
  function beginCommit(effect: EffectOf<"commitBlock">): void {
    const key = toKey(effect.candidate.hash);
    if (commits.has(key)) return;
    const running = attempt("committing a decided block", () => commit(effect));
    commits.set(
      key,
      running.finally(() => commits.delete(key)),
    );
  }

  function tell({ message }: EffectOf<"multicast">, state: State): void {
    const { height, round } = message.signed.payload;
    if (message.kind === "roundChange") logger.debug({ height, round }, "asking for another round");
    outbox.multicast(message, state.head?.tally.validators ?? []);
  }

  return {
    recordVote: (record) => voteLog.write(encodeLastSigned(record)),
    perform(effect, state) {
      switch (effect.kind) {
        case "multicast":
          tell(effect, state);
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
            logger.warn({ author, height, round, kind }, "a validator stands behind two blocks in one round");
          break;
        }
        default:
          assertNever(effect);
      }
    },
    follow({ height }) {
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

/** A liar can tell as many lies as it likes; each place in which it does is worth one line. */
const EQUIVOCATIONS_REMEMBERED = 1_000;

/** Timestamps are rounded, and clocks differ a little. */
const TIMESTAMP_SLACK_MS = 2000;

type TimerKind = "blockTimer" | "roundTimer";

type EffectOf<Kind extends Effect["kind"]> = Extract<Effect, { kind: Kind }>;

type TimerEffect = EffectOf<"setBlockTimer" | "setRoundTimer">;
