import { dropOldest } from "../primitives/boundedCache.ts";
import { TokenBucket } from "../primitives/tokenBucket.ts";
import { ALL_BURST, ALL_PER_SECOND, HOST_BURST, HOST_PER_SECOND, REMEMBERED_HOSTS } from "./limits.ts";

interface BudgetSettings {
  /** Whether many visitors share the host, such as a proxy that names none of them: only the common budget bounds it. */
  readonly isShared: (remoteHost: string) => boolean;
  /** Monotonic clock, milliseconds. */
  readonly nowMs: () => number;
}

/** The budget of visitors' requests, for each remote host and for all together. */
export class Budget {
  private readonly settings: BudgetSettings;
  private readonly all: TokenBucket;
  private readonly hosts = new Map<string, TokenBucket>();

  /** Creates a budget of two buckets that fill at a steady rate: the host's, and the common one. */
  constructor(settings: BudgetSettings) {
    this.settings = settings;
    this.all = new TokenBucket(OF_ALL, settings.nowMs());
  }

  /** Spends units; when too few are left, spends none and returns false. */
  spend(remoteHost: string, units: number): boolean {
    const now = this.settings.nowMs();
    const own = this.settings.isShared(remoteHost) ? undefined : this.bucketOf(remoteHost);
    if ((own !== undefined && own.refill(now) < units) || this.all.refill(now) < units) return false;
    own?.spend(units);
    this.all.spend(units);
    return true;
  }

  private bucketOf(remoteHost: string): TokenBucket {
    const bucket = this.hosts.get(remoteHost) ?? new TokenBucket(OF_ONE_HOST, this.settings.nowMs());
    // The host whose last request is oldest comes first, and its bucket is the fullest again.
    this.hosts.delete(remoteHost);
    this.hosts.set(remoteHost, bucket);
    dropOldest(this.hosts, REMEMBERED_HOSTS);
    return bucket;
  }
}

const OF_ALL = { capacity: ALL_BURST, perMs: ALL_PER_SECOND / 1000, maxDebt: 0 };
const OF_ONE_HOST = { capacity: HOST_BURST, perMs: HOST_PER_SECOND / 1000, maxDebt: 0 };
