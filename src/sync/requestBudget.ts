import type { Clock } from "../primitives/clock.ts";

/** Time budget of one peer for all its responses of a range together. */
export interface RequestBudget {
  /** The response, or undefined when the budget is spent and another peer could be asked. */
  wait<T>(response: Promise<T>): Promise<T | undefined>;
  /** Extends the budget after a delivery. */
  extend(ms: number): void;
}

export function createRequestBudget(
  clock: Clock,
  { firstMs, isReplaceable }: { readonly firstMs: number; readonly isReplaceable: () => boolean },
): RequestBudget {
  let leftMs = firstMs;
  return {
    async wait(response) {
      const startMs = clock.nowMs();
      try {
        return await new Promise((resolve, reject) => {
          const check = (): void => {
            if (isReplaceable()) resolve(undefined);
            else timer = clock.at(clock.nowMs() + RECHECK_MS, check);
          };
          let timer = clock.at(startMs + Math.max(leftMs, 0), check);
          response.then(resolve, reject).finally(() => timer.cancel());
        });
      } finally {
        leftMs -= clock.nowMs() - startMs;
      }
    },
    extend(ms) {
      leftMs += ms;
    },
  };
}

/** Interval of the checks for another peer once the budget is spent. */
const RECHECK_MS = 500;
