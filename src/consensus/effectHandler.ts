import { encodeLastSigned, type LastSignedState } from "../ibft/lastSigned.ts";
import type { RoundId } from "../ibft/message.ts";
import type { Effect, Input, Rules, State } from "../ibft/state.ts";
import type { Logger } from "../observability/logger.ts";
import { assertNever, expectDefined } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import type { VoteLog } from "../storage/votes/voteLog.ts";
import type { ConsensusMetrics } from "./consensusMetrics.ts";
import type { CandidateBuilder, CandidateChecker, Committer, Outbox, RemoteSigner } from "./ports.ts";
import { SeenMessages } from "./router/seenMessages.ts";
import type { VoteProposals } from "./voteProposals.ts";

export interface EffectHandlerParts {
  readonly builder: CandidateBuilder;
  readonly checker: CandidateChecker;
  readonly committer: Committer;
  /** Only its newest record is read. */
  readonly voteLog: Pick<VoteLog, "read" | "write">;
  readonly outbox: Outbox;
  /** Absent when the rules have the key. */
  readonly signer?: RemoteSigner | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Metrics of consensus; nothing is counted when absent. */
  readonly metrics?: ConsensusMetrics | undefined;
}

/** Performs the effects of the state machine. */
export class EffectHandler {
  private readonly self: Rules["self"];
  private readonly parts: EffectHandlerParts & { readonly proposals: VoteProposals };
  private readonly post: (input: Input) => void;
  private readonly timers: Record<TimerKind, Timer | undefined> = {
    blockTimer: undefined,
    roundTimer: undefined,
  };
  private readonly commits = new Map<string, Promise<void>>();
  private readonly reportedEquivocations = new SeenMessages(EQUIVOCATIONS_REMEMBERED);
  /** The proposal of the round in progress; only one is validated at a time. */
  private validation: { readonly id: RoundId; readonly controller: AbortController } | undefined;
  /** The signatures requested for the round in progress, by digest. */
  private signing: RoundOfSignatures | undefined;
  private hasEnded = false;

  constructor(
    { self }: Rules,
    parts: EffectHandlerParts & { readonly proposals: VoteProposals },
    post: (input: Input) => void,
  ) {
    this.self = self;
    this.parts = parts;
    this.post = post;
  }

  /** Resolves when the record is durable; the only effect that is awaited. */
  recordVote(record: LastSignedState): Promise<void> {
    return this.parts.voteLog.write(encodeLastSigned(record));
  }

  /** Performs an effect that `state` emitted; slow work runs in the background and posts its result. */
  perform(effect: Exclude<Effect, { kind: "recordVote" }>, state: State): void {
    switch (effect.kind) {
      case "multicast":
        this.multicast(effect, state);
        break;
      case "setBlockTimer":
        this.warnIfClockIsBehind(state);
        this.setTimer("blockTimer", effect);
        break;
      case "setRoundTimer":
        this.setTimer("roundTimer", effect);
        break;
      case "buildCandidate":
        void this.attempt("building a block", () => this.build(effect, state));
        break;
      case "checkCandidate":
        void this.attempt("checking a proposed block", () => this.check(effect));
        break;
      case "commitBlock":
        this.beginCommit(effect);
        break;
      case "requestSignature":
        void this.attempt("signing", () => this.requestSignature(effect));
        break;
      case "rejectMessage":
        this.logRejected(effect);
        break;
      case "reportEquivocation":
        this.reportEquivocation(effect);
        break;
      default:
        assertNever(effect);
    }
  }

  /** Must be called with each new state: stops the validation for a round that was left. */
  stateChanged({ height }: State): void {
    const isLeft = ({ id }: { readonly id: RoundId }): boolean =>
      height?.validatorSet.height !== id.height || height.round.number !== id.round;
    if (this.validation !== undefined && isLeft(this.validation)) this.stopValidation();
    if (this.signing !== undefined && isLeft(this.signing)) this.stopSigning();
  }

  /** Cancels timers and validation; later failures of running work are logged at debug level only. */
  end(): void {
    this.hasEnded = true;
    this.stopValidation();
    this.stopSigning();
    this.timers.blockTimer?.cancel();
    this.timers.roundTimer?.cancel();
  }

  /** Resolves when no commit is in progress. Does not wait for building or validation, which have no lasting effect. */
  async settled(): Promise<void> {
    await Promise.all(this.commits.values());
  }

  /** Runs slow work. A failure is logged, and the round ends by its timer. */
  private async attempt(what: string, work: () => Promise<void>): Promise<void> {
    const { logger } = this.parts;
    try {
      await work();
    } catch (error) {
      if (this.hasEnded) logger.debug({ error }, `${what} was abandoned`);
      else logger.error({ error }, `${what} failed`);
    }
  }

  /** Replaces the timer of the same kind, which belongs to an earlier round, or to the same round and is due earlier. */
  private setTimer(kind: TimerKind, { id, atMs }: TimerEffect): void {
    this.timers[kind]?.cancel();
    this.timers[kind] = this.parts.clock.at(atMs, () => this.post({ kind, id }));
  }

  /** Warns that our proposal is delayed until that time, which looks like a hanging node. */
  private warnIfClockIsBehind({ head }: State): void {
    const { clock, logger } = this.parts;
    const aheadMs = head === undefined ? 0 : Number(head.header.timestamp) * 1000 - clock.nowMs();
    if (aheadMs <= TIMESTAMP_SLACK_MS) return;
    logger.warn(
      { aheadMs },
      `the newest block is ${Math.ceil(aheadMs / 1000)} s ahead of this machine's clock, and no block can follow before ` +
        "that time. Is the clock right (timedatectl, chronyc tracking)?",
    );
  }

  private async build({ id, timestamp }: EffectOf<"buildCandidate">, state: State): Promise<void> {
    const { builder, metrics, proposals } = this.parts;
    const parent = expectDefined(state.head, "the head to build on");
    const vote = proposals.take(parent.tally, this.self);
    const order = { parent, round: id.round, timestamp, ...(vote !== undefined && { vote }) };
    const building = builder.build(order);
    const candidate = await (metrics?.building(building) ?? building);
    // The builder logs why there is no candidate.
    if (candidate !== undefined) this.post({ kind: "candidateBuilt", id, candidate });
  }

  private async check({ id, candidate }: EffectOf<"checkCandidate">): Promise<void> {
    this.stopValidation();
    const controller = new AbortController();
    this.validation = { id, controller };
    const isValid = await this.parts.checker.check(candidate, controller.signal);
    if (isValid === undefined) return;
    this.post({ kind: "candidateChecked", id, digest: candidate.digest, sound: isValid });
  }

  /** Requests a signature, unless it is requested already: the effect is emitted again until the signature arrives. */
  private async requestSignature({ id, digest, preimage }: EffectOf<"requestSignature">): Promise<void> {
    const signer = expectDefined(this.parts.signer, "a remote signer, since the rules have no key");
    this.signing ??= { id, controller: new AbortController(), digests: new Set() };
    const { controller, digests } = this.signing;
    const key = toKey(digest);
    if (digests.has(key)) return;
    digests.add(key);
    const signature = await signer.sign({ digest, preimage }, controller.signal);
    if (signature !== undefined && !controller.signal.aborted)
      this.post({ kind: "signed", id, digest, signature });
  }

  private stopSigning(): void {
    this.signing?.controller.abort();
    this.signing = undefined;
  }

  private stopValidation(): void {
    this.validation?.controller.abort();
    this.validation = undefined;
  }

  /** Starts a commit, unless one is running: the effect is emitted again while it takes long. */
  private beginCommit(effect: EffectOf<"commitBlock">): void {
    const key = toKey(effect.candidate.hash);
    if (this.commits.has(key)) return;
    const running = this.attempt("committing a decided block", () => this.commit(effect));
    this.commits.set(
      key,
      running.finally(() => this.commits.delete(key)),
    );
  }

  private async commit({ candidate, seals }: EffectOf<"commitBlock">): Promise<void> {
    const { committer, metrics } = this.parts;
    const committing = committer.commit(candidate, seals);
    await (metrics?.committing(committing) ?? committing);
  }

  private multicast({ message }: EffectOf<"multicast">, state: State): void {
    const { height, round } = message.signed.payload;
    if (message.kind === "roundChange")
      this.parts.logger.often("debug", "requesting another round", () => ({ height, round }));
    this.parts.outbox.multicast(message, state.head?.tally.validators ?? []);
  }

  private logRejected({ message, error }: EffectOf<"rejectMessage">): void {
    const { kind, signed } = message;
    this.parts.logger.often("debug", "a consensus message is rejected", () => ({
      kind,
      author: signed.author,
      error,
    }));
  }

  private reportEquivocation({ first }: EffectOf<"reportEquivocation">): void {
    const { author, payload } = first.signed;
    const { height, round, kind } = payload;
    if (!this.reportedEquivocations.add(`${toKey(author)} ${height} ${round} ${kind}`)) return;
    this.parts.logger.warn({ author, height, round, kind }, DOUBLE_VOTE);
  }
}

const DOUBLE_VOTE =
  "a validator has signed two different blocks in one round: two nodes run with its key, or it is Byzantine. More than f such " +
  "validators of 3f + 1 can fork the chain. Stop one of the two nodes, or vote the validator out";

/**
 * Number of equivocations remembered: each author, height, round and kind is logged once, however often a faulty validator
 * repeats itself.
 */
const EQUIVOCATIONS_REMEMBERED = 1_000;

/** Tolerance for rounded timestamps and small clock differences. */
const TIMESTAMP_SLACK_MS = 2000;

interface RoundOfSignatures {
  readonly id: RoundId;
  readonly controller: AbortController;
  readonly digests: Set<string>;
}

type TimerKind = "blockTimer" | "roundTimer";

type EffectOf<Kind extends Effect["kind"]> = Extract<Effect, { kind: Kind }>;

type TimerEffect = EffectOf<"setBlockTimer" | "setRoundTimer">;
