import type { Metrics } from "../observability/registry.ts";

/** Reasons for which block production is paused; it resumes when the last one is removed. */
export interface PauseReasons {
  pause(reason: PauseReason): void;
  resume(reason: PauseReason): void;
  /** The current reasons; empty when block production is not paused. */
  readonly reasons: readonly PauseReason[];
}

const PAUSE_REASONS = ["diskAlmostFull", "catchingUp", "lostEnd", "listening", "operator"] as const;
type PauseReason = (typeof PAUSE_REASONS)[number];

/** Why blocks are paused, in words that follow "this node neither proposes nor votes: ". */
const WORDS: Readonly<Record<PauseReason, string>> = {
  diskAlmostFull: "its disk is almost full",
  catchingUp: "it has to catch up with its peers first",
  lostEnd: "its database has lost its newest blocks, which it restores from its peers first",
  listening:
    "it first listens for another node with its key, for at most 10 s after it has connected to another validator",
  operator: "it was paused by miner_stop, until miner_start or a restart",
};

/** Creates the set of reasons, which is also a gauge if metrics are on. */
export function createPauseReasons(
  engine: { pause(why: () => string): void; resume(): void },
  metrics?: Metrics,
): PauseReasons {
  const reasons = new Set<PauseReason>();
  metrics?.gauges(
    {
      category: "BFT",
      name: "paused",
      help: "1 while this node neither proposes nor votes for this reason",
      labels: ["reason"],
    },
    () => PAUSE_REASONS.map((reason) => [[reason], reasons.has(reason) ? 1 : 0] as const),
  );
  return {
    pause(reason) {
      if (reasons.size === 0) engine.pause(() => [...reasons].map((each) => WORDS[each]).join("; "));
      reasons.add(reason);
    },
    resume(reason) {
      if (reasons.delete(reason) && reasons.size === 0) engine.resume();
    },
    get reasons() {
      return [...reasons];
    },
  };
}
