/** Reasons for which block production is paused; it resumes when the last one is removed. */
export interface PauseReasons {
  pause(reason: PauseReason): void;
  resume(reason: PauseReason): void;
  /** The current reasons; empty when block production is not paused. */
  readonly reasons: readonly PauseReason[];
}

type PauseReason = "diskAlmostFull" | "catchingUp" | "listening" | "operator";

export function createPauseReasons(engine: { pause(): void; resume(): void }): PauseReasons {
  const reasons = new Set<PauseReason>();
  return {
    pause(reason) {
      if (reasons.size === 0) engine.pause();
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
