import { dropOldest } from "../primitives/boundedCache.ts";
import { TokenBucket } from "../primitives/tokenBucket.ts";
import { ALL_BURST, ALL_PER_SECOND, HOST_BURST, HOST_PER_SECOND, REMEMBERED_HOSTS } from "./limits.ts";

/** The budget of visitors' requests, for each remote host and for all together. */
export interface Budget {
  /** Spends units; when too few are left, spends none and returns false. */
  spend(remoteHost: string, units: number): boolean;
}

interface BudgetSettings {
  /** Whether many visitors share the host, such as a proxy that names none of them: only the common budget bounds it. */
  readonly isShared: (remoteHost: string) => boolean;
  /** Monotonic clock, milliseconds. */
  readonly nowMs: () => number;
}

/** Creates a budget of two buckets that fill at a steady rate: the host's, and the common one. */
export function createBudget({ isShared, nowMs }: BudgetSettings): Budget {
  const all = new TokenBucket(OF_ALL, nowMs());
  const hosts = new Map<string, TokenBucket>();

  function bucketOf(remoteHost: string): TokenBucket {
    const bucket = hosts.get(remoteHost) ?? new TokenBucket(OF_ONE_HOST, nowMs());
    // The host whose last request is oldest comes first, and its bucket is the fullest again.
    hosts.delete(remoteHost);
    hosts.set(remoteHost, bucket);
    dropOldest(hosts, REMEMBERED_HOSTS);
    return bucket;
  }

  return {
    spend(remoteHost, units) {
      const now = nowMs();
      const own = isShared(remoteHost) ? undefined : bucketOf(remoteHost);
      if ((own !== undefined && own.refill(now) < units) || all.refill(now) < units) return false;
      own?.spend(units);
      all.spend(units);
      return true;
    },
  };
}

const OF_ALL = { capacity: ALL_BURST, perMs: ALL_PER_SECOND / 1000, maxDebt: 0 };
const OF_ONE_HOST = { capacity: HOST_BURST, perMs: HOST_PER_SECOND / 1000, maxDebt: 0 };
