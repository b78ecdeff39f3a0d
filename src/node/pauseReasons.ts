/** Reasons for which block production stands still; it goes on when the last of them is gone. */
export interface PauseReasons {
  pause(reason: PauseReason): void;
  resume(reason: PauseReason): void;
  /** Why nothing is produced at present; empty when all is well. */
  readonly reasons: readonly PauseReason[];
}

export type PauseReason = "diskAlmostFull" | "catchingUp" | "operator";

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
