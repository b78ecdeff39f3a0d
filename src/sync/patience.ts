import type { Clock } from "../primitives/clock.ts";

/** How long a peer may keep us waiting, all its answers taken together. */
export interface Patience {
  /** What it gives, or undefined when patience has run out and somebody else could be asked. */
  wait<T>(gift: Promise<T>): Promise<T | undefined>;
  /** It has given something: so much more may be waited for the rest. */
  earn(ms: number): void;
}

export function createPatience(
  clock: Clock,
  { firstMs, isOtherThere }: { readonly firstMs: number; readonly isOtherThere: () => boolean },
): Patience {
  let leftMs = firstMs;
  return {
    async wait(gift) {
      const startMs = clock.nowMs();
      try {
        return await new Promise((resolve, reject) => {
          const look = (): void => {
            if (isOtherThere()) resolve(undefined);
            else alarm = clock.at(clock.nowMs() + LOOK_AGAIN_MS, look);
          };
          let alarm = clock.at(startMs + Math.max(leftMs, 0), look);
          gift.then(resolve, reject).finally(() => alarm.cancel());
        });
      } finally {
        leftMs -= clock.nowMs() - startMs;
      }
    },
    earn(ms) {
      leftMs += ms;
    },
  };
}

/** Somebody may have come meanwhile. */
const LOOK_AGAIN_MS = 500;
