import type { ChainReader, LocatedTransaction } from "../chain/chainReader.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Hash } from "../primitives/hash.ts";
import { HostShares } from "./server/hostShares.ts";

/** Requests that wait for a block at a time; each costs a look-up at every new head. One remote host alone may have half. */
const WAITS_LIMIT = 500;

/** How long a request waits, and when it may give up earlier. */
interface WaitLimits {
  readonly timeoutMs: number;
  /** True when nobody waits for the answer any more; asked at every new head. */
  readonly isAbandoned: () => boolean;
}

/** Waits of callers for the block that includes a transaction, bounded in number and in time. */
export class InclusionWaits {
  private readonly chain: Pick<ChainReader, "transactionByHash" | "onHeadChanged">;
  private readonly clock: Pick<Clock, "nowMs" | "at">;
  private readonly shares = new HostShares(WAITS_LIMIT);

  constructor(parts: {
    readonly chain: Pick<ChainReader, "transactionByHash" | "onHeadChanged">;
    readonly clock: Pick<Clock, "nowMs" | "at">;
  }) {
    this.chain = parts.chain;
    this.clock = parts.clock;
  }

  /**
   * Runs `work`, which may wait for inclusion, in a place of the remote host; undefined, without running it, when the
   * host has its share of them.
   */
  async within<T>(remoteHost: string, work: () => Promise<T>): Promise<T | undefined> {
    if (!this.shares.take(remoteHost, 1)) return undefined;
    try {
      return await work();
    } finally {
      this.shares.giveBack(remoteHost, 1);
    }
  }

  /** The transaction once a block has it; undefined when the time is up or nobody waits any more. */
  included(hash: Hash, { timeoutMs, isAbandoned }: WaitLimits): Promise<LocatedTransaction | undefined> {
    const known = this.chain.transactionByHash(hash);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve) => {
      const end = (found: LocatedTransaction | undefined): void => {
        stopListening();
        timer.cancel();
        resolve(found);
      };
      const look = (): void => {
        const found = this.chain.transactionByHash(hash);
        if (found !== undefined || isAbandoned()) end(found);
      };
      const stopListening = this.chain.onHeadChanged("inclusionWaits", look);
      const timer = this.clock.at(this.clock.nowMs() + timeoutMs, () => end(undefined));
      // The chain may have got further when the listener was added.
      look();
    });
  }
}
