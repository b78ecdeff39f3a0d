import type { Clock } from "../primitives/clock.ts";

/** How long a peer may keep us waiting, all its answers taken together. */
export interface RequestBudget {
  /** What it gives, or undefined when patience has run out and somebody else could be asked. */
  wait<T>(answer: Promise<T>): Promise<T | undefined>;
  /** It has given something: so much more may be waited for the rest. */
  extend(ms: number): void;
}

export function createRequestBudget(
  clock: Clock,
  { firstMs, isReplaceable }: { readonly firstMs: number; readonly isReplaceable: () => boolean },
): RequestBudget {
  let leftMs = firstMs;
  return {
    async wait(answer) {
      const startMs = clock.nowMs();
      try {
        return await new Promise((resolve, reject) => {
          const check = (): void => {
            if (isReplaceable()) resolve(undefined);
            else timer = clock.at(clock.nowMs() + RECHECK_MS, check);
          };
          let timer = clock.at(startMs + Math.max(leftMs, 0), check);
          answer.then(resolve, reject).finally(() => timer.cancel());
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

/** Somebody may have come meanwhile. */
const RECHECK_MS = 500;
