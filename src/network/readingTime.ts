import type { Clock } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { IngressBudget } from "../primitives/ingressBudget.ts";
import { UNTRUSTED_BURST_MS, UNTRUSTED_TIME_SHARE } from "./limits.ts";
import type { PeerShare } from "./subProtocol.ts";

/**
 * The main thread's time for peers' input: untrusted peers share a budget, and input from maintained peers and
 * validators does not wait behind theirs.
 */
export class ReadingTime {
  private readonly isTrusted: (nodeId: Uint8Array) => boolean;
  private readonly budget: IngressBudget;

  constructor(clock: Clock, isTrusted: (nodeId: Uint8Array) => boolean) {
    this.isTrusted = isTrusted;
    this.budget = new IngressBudget(clock, { share: UNTRUSTED_TIME_SHARE, burstMs: UNTRUSTED_BURST_MS });
  }

  /** Runs the reading of a received chunk; false when it runs later. The id is undefined until it is proven. */
  read(nodeId: Uint8Array | undefined, read: () => void): boolean {
    if (nodeId === undefined || !this.isTrusted(nodeId)) return this.budget.take(read);
    read();
    return true;
  }

  /** The peer's share of the time for work that its messages cause. */
  shareOf(nodeId: Uint8Array): PeerShare {
    const sender = toHex(nodeId);
    const { isTrusted, budget } = this;
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
  }

  close(): void {
    this.budget.close();
  }
}
