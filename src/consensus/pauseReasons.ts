import type { Metrics } from "../observability/registry.ts";

const PAUSE_REASONS = [
  "diskAlmostFull",
  "catchingUp",
  "lostEnd",
  "listening",
  "operator",
  "development",
] as const;
type PauseReason = (typeof PAUSE_REASONS)[number];

/** Why blocks are paused, in words that follow "this node neither proposes nor votes: ". */
const WORDS: Readonly<Record<PauseReason, string>> = {
  diskAlmostFull: "its disk is almost full",
  catchingUp: "it has to catch up with its peers first",
  lostEnd: "its database has lost its newest blocks, which it restores from its peers first",
  listening:
    "it first listens for another node with its key, for at most 10 s after it has connected to another validator",
  development: "blocks of this chain are made for development, without votes",
  operator: "it was paused by miner_stop, until miner_start or a restart",
};

interface PausableEngine {
  pause(why: () => string): void;
  resume(): void;
}

/** Reasons for which block production is paused; it resumes when the last one is removed. */
export class PauseReasons {
  private readonly engine: PausableEngine;
  private readonly current = new Set<PauseReason>();

  /** Creates the set of reasons, which is also a gauge if metrics are on. */
  constructor(engine: PausableEngine, metrics?: Metrics) {
    this.engine = engine;
    metrics?.gauges(
      {
        category: "BFT",
        name: "paused",
        help: "1 while this node neither proposes nor votes for this reason",
        labels: ["reason"],
      },
      () => PAUSE_REASONS.map((reason) => [[reason], this.current.has(reason) ? 1 : 0] as const),
    );
  }

  pause(reason: PauseReason): void {
    if (this.current.size === 0)
      this.engine.pause(() => [...this.current].map((each) => WORDS[each]).join("; "));
    this.current.add(reason);
  }

  resume(reason: PauseReason): void {
    if (this.current.delete(reason) && this.current.size === 0) this.engine.resume();
  }

  /** Why no blocks are to be made for development either, where votes are not what decides; undefined while they may be. */
  get haltOfDevelopment(): string | undefined {
    if (this.current.has("diskAlmostFull")) return "the disk is almost full";
    return this.current.has("operator") ? "they were paused by miner_stop, until miner_start" : undefined;
  }

  /** The current reasons; empty when block production is not paused. */
  get reasons(): readonly PauseReason[] {
    return [...this.current];
  }
}
