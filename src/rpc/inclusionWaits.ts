import type { ChainReader, LocatedTransaction } from "../chain/chain.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Hash } from "../primitives/hash.ts";

/** Requests that wait for a block at a time; each costs a look-up at every new head. */
const WAITS_LIMIT = 1_000;
/** Those of one remote host among them. */
const WAITS_OF_HOST_LIMIT = 250;

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
  /** By remote host. */
  private readonly counts = new Map<string, number>();
  private total = 0;

  constructor(parts: {
    readonly chain: Pick<ChainReader, "transactionByHash" | "onHeadChanged">;
    readonly clock: Pick<Clock, "nowMs" | "at">;
  }) {
    this.chain = parts.chain;
    this.clock = parts.clock;
  }

  /**
   * Runs `work`, which may wait for inclusion, in a place of the remote host; undefined, without running it, when the
   * host or all hosts together have as many as they may.
   */
  async within<T>(remoteHost: string, work: () => Promise<T>): Promise<T | undefined> {
    const ofHost = this.counts.get(remoteHost) ?? 0;
    if (this.total >= WAITS_LIMIT || ofHost >= WAITS_OF_HOST_LIMIT) return undefined;
    this.count(remoteHost, 1);
    try {
      return await work();
    } finally {
      this.count(remoteHost, -1);
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
      const stopListening = this.chain.onHeadChanged(() => {
        const found = this.chain.transactionByHash(hash);
        if (found !== undefined || isAbandoned()) end(found);
      });
      const timer = this.clock.at(this.clock.nowMs() + timeoutMs, () => end(undefined));
    });
  }

  private count(remoteHost: string, change: 1 | -1): void {
    const ofHost = (this.counts.get(remoteHost) ?? 0) + change;
    if (ofHost === 0) this.counts.delete(remoteHost);
    else this.counts.set(remoteHost, ofHost);
    this.total += change;
  }
}
