import type { Clock } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { createIngressBudget } from "../primitives/ingressBudget.ts";
import { UNTRUSTED_BURST_MS, UNTRUSTED_TIME_SHARE } from "./limits.ts";
import type { PeerShare } from "./subProtocol.ts";

/**
 * The main thread's time for peers' input: untrusted peers share a budget, and input from maintained peers and
 * validators does not wait behind theirs.
 */
export interface ReadingTime {
  /** Runs the reading of a received chunk; false when it runs later. The id is undefined until one is proven. */
  read(nodeId: Uint8Array | undefined, read: () => void): boolean;
  /** The peer's part of the time for what its messages cause. */
  shareOf(nodeId: Uint8Array): PeerShare;
  close(): void;
}

export function createReadingTime(clock: Clock, isTrusted: (nodeId: Uint8Array) => boolean): ReadingTime {
  const budget = createIngressBudget(clock, { share: UNTRUSTED_TIME_SHARE, burstMs: UNTRUSTED_BURST_MS });
  return {
    read(nodeId, read) {
      if (nodeId === undefined || !isTrusted(nodeId)) return budget.take(read);
      read();
      return true;
    },
    shareOf(nodeId) {
      const sender = toHex(nodeId);
      return {
        get isTrusted() {
          return isTrusted(nodeId);
        },
        take(work) {
          if (isTrusted(nodeId)) work();
          else budget.take(work, sender);
        },
        spend(durationMs) {
          if (!isTrusted(nodeId)) budget.spend(durationMs);
        },
      };
    },
    close: () => budget.close(),
  };
}
