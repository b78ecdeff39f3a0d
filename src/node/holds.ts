/** Reasons for which block production stands still; it goes on when the last of them is gone. */
export interface Holds {
  hold(reason: HoldReason): void;
  release(reason: HoldReason): void;
  /** Why nothing is produced at present; empty when all is well. */
  readonly reasons: readonly HoldReason[];
}

export type HoldReason = "diskAlmostFull" | "catchingUp" | "operator";

export function createHolds(engine: { pause(): void; resume(): void }): Holds {
  const reasons = new Set<HoldReason>();
  return {
    hold(reason) {
      if (reasons.size === 0) engine.pause();
      reasons.add(reason);
    },
    release(reason) {
      if (reasons.delete(reason) && reasons.size === 0) engine.resume();
    },
    get reasons() {
      return [...reasons];
    },
  };
}
