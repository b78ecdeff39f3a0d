import type { Effect } from "../ibft/effect.ts";
import type { Input } from "../ibft/input.ts";
import { MESSAGE_ERRORS } from "../ibft/messageRules.ts";
import { quorum } from "../ibft/quorum.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import { equalBytes, includesBytes, toHex } from "../primitives/hex.ts";
import type { ConsensusStatus } from "./monitor/status.ts";

/**
 * What the engine and its hands count of themselves; the incumbent has nothing like it
 * (metrics.md#metrics-of-our-own).
 */
export interface ConsensusMetrics {
  /** An effect of the machine is about to be performed. */
  asked(effect: Effect, by: Input): void;
  /** The validator whose turn it was proposed nothing. */
  turnMissed(proposer: Address): void;
  /** A message came while too many were waiting. */
  messageDropped(): void;
  readonly building: Stopwatch;
  readonly committing: Stopwatch;
}

/** Measures how long work takes until it has settled well. */
export type Stopwatch = <T>(work: Promise<T>) => Promise<T>;

export function declareConsensusMetrics(metrics: Metrics): ConsensusMetrics {
  const roundChanges = metrics.counter({
    category: "BFT",
    name: "round_changes_total",
    help: "Times that this validator asked for another round",
    labels: ["reason"],
  });
  // A rise from nothing to one is seen only where there was a zero before.
  for (const reason of ROUND_CHANGE_REASONS) roundChanges.with(reason);
  const dropped = metrics.counter({
    category: "BFT",
    name: "queue_dropped_total",
    help: "Consensus messages dropped because too many were waiting",
  });
  const rejected = metrics.counter({
    category: "BFT",
    name: "messages_rejected_total",
    help: "Readable consensus messages of validators that break a rule, by what is wrong with them",
    labels: ["flaw"],
  });
  for (const error of MESSAGE_ERRORS) rejected.with(error);
  const doubleVotes = metrics.counter({
    category: "BFT",
    name: "double_votes_total",
    help: "Consensus messages that put a validator behind a second block in one round",
  });
  const missed = metrics.counter({
    category: "BFT",
    name: "expected_proposer_missed_total",
    help: "Rounds in which the validator whose turn it was proposed nothing",
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
    asked(effect, by) {
      if (effect.kind === "multicast" && effect.message.kind === "roundChange")
        roundChanges.with(reasonOf(by)).increment();
      else if (effect.kind === "rejectMessage") rejected.with(effect.error).increment();
      else if (effect.kind === "reportDoubleVote") doubleVotes.with().increment();
    },
    turnMissed: (proposer) => missed.with(toHex(proposer)).increment(),
    messageDropped: () => dropped.with().increment(),
    building: stopwatch("block_propose_seconds", "Time to build a block of our own, seconds"),
    committing: stopwatch("commit_seconds", "Time to make a decided block durable, seconds"),
  };
}

const ROUND_CHANGE_REASONS = ["timeout", "higher_round", "restart"] as const;

/** A later round is asked for when ours has run out, when enough others ask, or first thing after a restart. */
function reasonOf({ kind }: Input): (typeof ROUND_CHANGE_REASONS)[number] {
  if (kind === "roundTimer") return "timeout";
  return kind === "message" ? "higher_round" : "restart";
}

/** What consensus is at, asked when somebody reads. */
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
    "Round of that height; NaN where this node takes no part",
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
      name: "validator_last_seen_seconds",
      help: "Since another validator was last heard of, seconds; NaN when it was not since the start",
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
