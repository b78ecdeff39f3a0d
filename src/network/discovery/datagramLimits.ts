import { dropOldest } from "../../primitives/boundedCache.ts";
import type { Clock } from "../../primitives/clock.ts";
import { TokenBucket } from "../../primitives/tokenBucket.ts";

const OF_ALL = { capacity: 1000, perMs: 0.5, maxDebt: 0 };
const OF_ONE_ADDRESS = { capacity: 100, perMs: 0.02, maxDebt: 0 };
/** Number of addresses whose allowance is remembered. */
const MAX_ADDRESSES = 4096;

/**
 * Limits how many datagrams are read, each of which takes 60 µs to hash and to recover its signer: a number for each
 * address, one for all unknown addresses together, 30 ms of each second, and one for all known addresses, since anyone can
 * forge them. Others are dropped unread.
 */
export class DatagramLimits {
  private readonly clock: Pick<Clock, "nowMs">;
  private readonly ofUnknown: TokenBucket;
  private readonly ofKnown: TokenBucket;
  private readonly ofAddress = new Map<string, TokenBucket>();

  constructor(clock: Pick<Clock, "nowMs">) {
    this.clock = clock;
    this.ofUnknown = new TokenBucket(OF_ALL, clock.nowMs());
    this.ofKnown = new TokenBucket(OF_ALL, clock.nowMs());
  }

  /** Whether a datagram from `ip` may be read; a flood from unknown addresses leaves known ones their share. */
  take(ip: string, isKnown: boolean): boolean {
    // A flood from many addresses ends here, before it costs memory.
    if (!isKnown && this.ofUnknown.refill(this.clock.nowMs()) < 1) return false;
    const own = this.bucketOf(ip);
    if (own.refill(this.clock.nowMs()) < 1) return false;
    const all = isKnown ? this.ofKnown : this.ofUnknown;
    if (all.refill(this.clock.nowMs()) < 1) return false;
    all.spend(1);
    own.spend(1);
    return true;
  }

  private bucketOf(ip: string): TokenBucket {
    let bucket = this.ofAddress.get(ip);
    if (bucket === undefined) {
      bucket = new TokenBucket(OF_ONE_ADDRESS, this.clock.nowMs());
      this.ofAddress.set(ip, bucket);
      dropOldest(this.ofAddress, MAX_ADDRESSES);
    }
    return bucket;
  }
}
