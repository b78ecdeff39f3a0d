import type { Effect } from "../ibft/effect.ts";
import type { Input } from "../ibft/input.ts";
import type { Rules, State } from "../ibft/state.ts";
import { encodeVoteRecord, type VoteRecord } from "../ibft/voteRecord.ts";
import type { Logger } from "../logging/logger.ts";
import { assertNever, present } from "../primitives/assert.ts";
import type { Alarm, Clock } from "../primitives/clock.ts";
import { toKey } from "../primitives/hex.ts";
import type { CandidateBuilder, CandidateChecker, Committer, Outbox, VoteStore } from "./ports.ts";
import type { VoteProposals } from "./voteProposals.ts";

export interface PerformerParts {
  readonly builder: CandidateBuilder;
  readonly checker: CandidateChecker;
  readonly committer: Committer;
  readonly voteStore: VoteStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The hands of the machine. */
export interface Performer {
  /** Resolves when the record is durable; the only effect that is waited for. */
  recordVote(record: VoteRecord): Promise<void>;
  /** Does what the machine asks, in the state it asked it in; slow work goes on by itself and its answer is posted. */
  perform(effect: Exclude<Effect, { kind: "recordVote" }>, state: State): void;
  cancelAlarms(): void;
  /** Resolves when no work is under way. */
  settled(): Promise<void>;
}

export function createPerformer(
  rules: Rules,
  parts: PerformerParts & { readonly proposals: VoteProposals },
  post: (input: Input) => void,
): Performer {
  const { builder, checker, committer, voteStore, outbox, clock, logger } = parts;
  const alarms: Record<TimerKind, Alarm | undefined> = { blockTimer: undefined, roundTimer: undefined };
  const underWay = new Set<Promise<void>>();
  const committing = new Set<string>();

  /** Work that nobody waits for. A failure in it is told and leaves the round to its timer. */
  function begin(what: string, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => logger.error({ error }, `${what} failed`))
      .finally(() => underWay.delete(running));
    underWay.add(running);
  }

  /** A later timer of a kind is always of a later round, or of the same round and later. */
  function setAlarm(kind: TimerKind, { id, atMs }: TimerEffect): void {
    alarms[kind]?.cancel();
    alarms[kind] = clock.at(atMs, () => post({ kind, id }));
  }

  async function build({ id, timestamp }: EffectOf<"buildCandidate">, state: State): Promise<void> {
    const parent = present(state.head, "the head to build on");
    const vote = parts.proposals.take(parent.tally, rules.self);
    const order = { parent, round: id.round, timestamp, ...(vote !== undefined && { vote }) };
    const candidate = await builder.build(order);
    if (candidate === undefined) logger.warn({ ...id }, "no block could be built; the round will time out");
    else post({ kind: "candidateBuilt", id, candidate });
  }

  async function check({ id, candidate }: EffectOf<"checkCandidate">): Promise<void> {
    const sound = await checker.check(candidate);
    if (!sound) logger.warn({ ...id, hash: candidate.hash }, "a proposed block is unsound");
    post({ kind: "candidateChecked", id, digest: candidate.digest, sound });
  }

  async function commit({ candidate, seals }: EffectOf<"commitBlock">): Promise<void> {
    const key = toKey(candidate.hash);
    if (committing.has(key)) return;
    committing.add(key);
    try {
      const isCommitted = await committer.commit(candidate, seals);
      if (isCommitted) return;
      const { number } = candidate.header;
      logger.error({ number, hash: candidate.hash }, "a decided block could not be committed");
    } finally {
      committing.delete(key);
    }
  }

  function tell({ message }: EffectOf<"multicast">, state: State): void {
    const { height, round } = message.signed.payload;
    if (message.kind === "roundChange") logger.info({ height, round }, "asking for another round");
    outbox.multicast(message, state.head?.tally.validators ?? []);
  }

  return {
    recordVote: (record) => voteStore.write(encodeVoteRecord(record)),
    perform(effect, state) {
      switch (effect.kind) {
        case "multicast":
          tell(effect, state);
          break;
        case "setBlockTimer":
          setAlarm("blockTimer", effect);
          break;
        case "setRoundTimer":
          setAlarm("roundTimer", effect);
          break;
        case "buildCandidate":
          begin("building a block", () => build(effect, state));
          break;
        case "checkCandidate":
          begin("checking a proposed block", () => check(effect));
          break;
        case "commitBlock":
          begin("committing a decided block", () => commit(effect));
          break;
        case "rejectMessage": {
          const { kind, signed } = effect.message;
          logger.debug({ kind, author: signed.author, flaw: effect.flaw }, "a consensus message is rejected");
          break;
        }
        case "reportDoubleVote": {
          const { author, payload } = effect.first.signed;
          const { height, round, kind } = payload;
          logger.warn({ author, height, round, kind }, "a validator stands behind two blocks in one round");
          break;
        }
        default:
          assertNever(effect);
      }
    },
    cancelAlarms() {
      alarms.blockTimer?.cancel();
      alarms.roundTimer?.cancel();
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}

type TimerKind = "blockTimer" | "roundTimer";

type EffectOf<Kind extends Effect["kind"]> = Extract<Effect, { kind: Kind }>;

type TimerEffect = EffectOf<"setBlockTimer" | "setRoundTimer">;
