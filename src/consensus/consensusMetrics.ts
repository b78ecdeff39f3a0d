import { DOUBT_REASONS } from "../ibft/lastSigned.ts";
import { MESSAGE_ERRORS } from "../ibft/messageRules.ts";
import type { Effect, Input } from "../ibft/state.ts";
import { quorum } from "../ibft/validatorSet.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import { equalBytes, includesBytes, toHex } from "../primitives/hex.ts";
import type { ConsensusStatus } from "./monitor/status.ts";

/**
 * Metrics of the engine and its effect handler; Besu has no such metrics (metrics.md#metrics-of-our-own).
 */
export interface ConsensusMetrics {
  /** Counts an effect before it is performed; `by` is the input that caused it. */
  effectEmitted(effect: Effect, by: Input): void;
  /** Counts a round without a proposal. */
  turnMissed(proposer: Address): void;
  /** Counts an observation of two nodes with one validator's key. */
  sharedKeySeen(): void;
  /** Counts a message that was dropped because the queue was full. */
  messageDropped(): void;
  readonly building: Stopwatch;
  readonly committing: Stopwatch;
}

/** Measures the duration of work that resolves. */
type Stopwatch = <T>(work: Promise<T>) => Promise<T>;

export function declareConsensusMetrics(metrics: Metrics): ConsensusMetrics {
  const roundChanges = metrics.counter({
    category: "BFT",
    name: "round_changes_total",
    help: "Round changes that this validator requested",
    labels: ["reason"],
  });
  // Prometheus sees the first increment only when the series starts at zero.
  for (const reason of ROUND_CHANGE_REASONS) roundChanges.with(reason);
  const dropped = metrics.counter({
    category: "BFT",
    name: "queue_dropped_total",
    help: "Consensus messages dropped because the queue was full",
  });
  const rejected = metrics.counter({
    category: "BFT",
    name: "messages_rejected_total",
    help: "Decoded consensus messages of validators that break a rule, by error",
    labels: ["error"],
  });
  for (const error of MESSAGE_ERRORS) rejected.with(error);
  const doubleVotes = metrics.counter({
    category: "BFT",
    name: "equivocations_total",
    help: "Consensus messages with which a validator signed a second block in one round",
  });
  const sharedKeys = metrics.counter({
    category: "BFT",
    name: "shared_key_reports_total",
    help: "Observations of two nodes with one validator's key, by this node or reported to it",
  });
  const missed = metrics.counter({
    category: "BFT",
    name: "expected_proposer_missed_total",
    help: "Rounds without a proposal, by their proposer",
    labels: ["validator"],
  });
  const stopwatch = (name: string, help: string): Stopwatch => {
    const summary = metrics.summary({ category: "BFT", name, help });
    return async (work) => {
      const startedAt = metrics.stopwatchSeconds();
      const result = await work;
      summary.with().observe(metrics.stopwatchSeconds() - startedAt);
      return result;
    };
  };
  return {
    effectEmitted(effect, by) {
      if (effect.kind === "multicast" && effect.message.kind === "roundChange")
        roundChanges.with(reasonOf(by)).increment();
      else if (effect.kind === "rejectMessage") rejected.with(effect.error).increment();
      else if (effect.kind === "reportEquivocation") doubleVotes.with().increment();
    },
    turnMissed: (proposer) => missed.with(toHex(proposer)).increment(),
    sharedKeySeen: () => sharedKeys.with().increment(),
    messageDropped: () => dropped.with().increment(),
    building: stopwatch("block_propose_seconds", "Time to build a block of our own, seconds"),
    committing: stopwatch("commit_seconds", "Time to make a decided block durable, seconds"),
  };
}

const ROUND_CHANGE_REASONS = ["timeout", "higher_round", "restart"] as const;

/** A round change follows a timeout, enough requests of others (the join rule), or a restart. */
function reasonOf({ kind }: Input): (typeof ROUND_CHANGE_REASONS)[number] {
  if (kind === "roundTimer") return "timeout";
  return kind === "message" ? "higher_round" : "restart";
}

/** Declares gauges of the consensus status, which is read when metrics are collected. */
export function showConsensus(
  metrics: Metrics,
  { self, nowMs }: { readonly self: Address; nowMs(): number },
  status: () => ConsensusStatus,
): void {
  const gauge = (name: string, help: string, read: (status: ConsensusStatus) => number): void =>
    metrics.gauge({ category: "BFT", name, help }, () => read(status()));
  gauge("height", "Height being decided", ({ height }) => Number(height ?? 0n));
  gauge(
    "round",
    "Round of that height; NaN when this node does not take part",
    ({ round }) => round?.number ?? Number.NaN,
  );
  gauge("is_validator", "1 when this node is a validator", ({ validators }) =>
    includesBytes(validators, self) ? 1 : 0,
  );
  gauge("validators", "Number of validators", ({ validators }) => validators.length);
  gauge("quorum", "Validators that must agree", ({ validators }) => quorum(validators.length));
  metrics.gauges(
    {
      category: "BFT",
      name: "silent",
      help: "1 while this validator is silent because its key may have signed what its record lacks, by reason",
      labels: ["reason"],
    },
    function* () {
      const { silence, isValidator } = status();
      for (const reason of DOUBT_REASONS) yield [[reason], isValidator && silence?.reason === reason ? 1 : 0];
    },
  );
  metrics.gauges(
    {
      category: "BFT",
      name: "validator_last_seen_seconds",
      help: "Time since another validator was last heard, seconds; NaN when it was not heard since the start",
      labels: ["validator"],
    },
    function* () {
      for (const { address, lastHeard } of status().members) {
        if (equalBytes(address, self)) continue;
        const seconds = lastHeard === undefined ? Number.NaN : (nowMs() - lastHeard.atMs) / 1000;
        yield [[toHex(address)], Math.max(0, seconds)];
      }
    },
  );
}
