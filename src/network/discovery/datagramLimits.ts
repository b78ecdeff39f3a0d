import { dropOldest } from "../../primitives/boundedCache.ts";
import type { Clock } from "../../primitives/clock.ts";
import { TokenBucket } from "../../primitives/tokenBucket.ts";

/**
 * How many datagrams are read, each of which costs 60 µs to hash and to recover its signer: so many of one address, and
 * so many of all unknown addresses together, 30 ms of each second, and of all known ones, since anyone can write theirs.
 * Others are dropped unread.
 */
export interface DatagramLimits {
  /** Whether a datagram from `ip` may be read; a flood from unknown addresses leaves known ones their share. */
  take(ip: string, isKnown: boolean): boolean;
}

const OF_ALL = { capacity: 1000, perMs: 0.5, maxDebt: 0 };
const OF_ONE_ADDRESS = { capacity: 100, perMs: 0.02, maxDebt: 0 };
/** Addresses whose allowance is remembered. */
const MAX_ADDRESSES = 4096;

export function createDatagramLimits({ nowMs }: Pick<Clock, "nowMs">): DatagramLimits {
  const ofUnknown = new TokenBucket(OF_ALL, nowMs());
  const ofKnown = new TokenBucket(OF_ALL, nowMs());
  const ofAddress = new Map<string, TokenBucket>();

  function bucketOf(ip: string): TokenBucket {
    let bucket = ofAddress.get(ip);
    if (bucket === undefined) {
      bucket = new TokenBucket(OF_ONE_ADDRESS, nowMs());
      ofAddress.set(ip, bucket);
      dropOldest(ofAddress, MAX_ADDRESSES);
    }
    return bucket;
  }

  return {
    take(ip, isKnown) {
      // A flood from everywhere ends here, before it costs memory.
      if (!isKnown && ofUnknown.refill(nowMs()) < 1) return false;
      const own = bucketOf(ip);
      if (own.refill(nowMs()) < 1) return false;
      const all = isKnown ? ofKnown : ofUnknown;
      if (all.refill(nowMs()) < 1) return false;
      all.spend(1);
      own.spend(1);
      return true;
    },
  };
}
