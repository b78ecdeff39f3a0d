import type { Logger } from "../observability/logger.ts";
import type { HeadChange } from "./chain.ts";

/** Listeners of head changes, called in the order in which they were added. */
export interface HeadListeners {
  /** Returns a function that removes the listener. */
  add(listener: (change: HeadChange) => void): () => void;
  /** Called after the move. A listener that throws does not affect the others. */
  announce(change: HeadChange): void;
}

export function createHeadListeners(logger: Logger): HeadListeners {
  const listeners = new Set<(change: HeadChange) => void>();
  return {
    add(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    announce(change) {
      for (const listener of [...listeners]) {
        try {
          listener(change);
        } catch (error) {
          logger.error({ number: change.head.header.number, error }, "a listener of head changes failed");
        }
      }
    },
  };
}
