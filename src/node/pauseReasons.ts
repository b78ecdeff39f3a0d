/** Reasons for which block production is paused; it resumes when the last one is removed. */
export interface PauseReasons {
  pause(reason: PauseReason): void;
  resume(reason: PauseReason): void;
  /** The current reasons; empty when block production is not paused. */
  readonly reasons: readonly PauseReason[];
}

type PauseReason = "diskAlmostFull" | "catchingUp" | "listening" | "operator";

/** Why blocks are paused, in words that follow "this node neither proposes nor votes: ". */
const WORDS: Readonly<Record<PauseReason, string>> = {
  diskAlmostFull: "its disk is almost full",
  catchingUp: "it has to catch up with its peers first",
  listening:
    "it listens first whether another node runs with its key, until 10 s after it has met another validator at most",
  operator: "it was paused by miner_stop, until miner_start or a restart",
};

export function createPauseReasons(engine: { pause(why: () => string): void; resume(): void }): PauseReasons {
  const reasons = new Set<PauseReason>();
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
