import { ALL_BURST, ALL_PER_SECOND, HOST_BURST, HOST_PER_SECOND, REMEMBERED_HOSTS } from "./limits.ts";

/** What visitors may ask for, by remote host and together. */
export interface Budget {
  /** Spends so many units, or spends none and returns false where they are not there. */
  spend(remoteHost: string, units: number): boolean;
}

export interface BudgetSettings {
  /** Hosts that many visitors share, such as a proxy that names none of them: only what all have together bounds them. */
  readonly isShared: (remoteHost: string) => boolean;
  /** Monotonic, milliseconds. */
  readonly nowMs: () => number;
}

/** Two buckets that fill at a steady rate: that of the host, and that of all. */
export function createBudget({ isShared, nowMs }: BudgetSettings): Budget {
  const all = new Bucket(ALL_BURST, ALL_PER_SECOND, nowMs());
  const hosts = new Map<string, Bucket>();

  function bucketOf(remoteHost: string): Bucket {
    const known = hosts.get(remoteHost);
    if (known !== undefined) hosts.delete(remoteHost);
    const bucket = known ?? new Bucket(HOST_BURST, HOST_PER_SECOND, nowMs());
    // The one that asked longest ago is the first, and fullest again.
    hosts.set(remoteHost, bucket);
    const [oldest] = hosts.size > REMEMBERED_HOSTS ? hosts.keys() : [];
    if (oldest !== undefined) hosts.delete(oldest);
    return bucket;
  }

  return {
    spend(remoteHost, units) {
      const now = nowMs();
      const own = isShared(remoteHost) ? undefined : bucketOf(remoteHost);
      if (own?.has(units, now) === false || !all.has(units, now)) return false;
      own?.take(units);
      all.take(units);
      return true;
    },
  };
}

class Bucket {
  private readonly capacity: number;
  private readonly perMs: number;
  private level: number;
  private filledAtMs: number;

  constructor(capacity: number, perSecond: number, nowMs: number) {
    this.capacity = capacity;
    this.perMs = perSecond / 1000;
    this.level = capacity;
    this.filledAtMs = nowMs;
  }

  has(units: number, nowMs: number): boolean {
    this.level = Math.min(this.capacity, this.level + (nowMs - this.filledAtMs) * this.perMs);
    this.filledAtMs = nowMs;
    return this.level >= units;
  }

  take(units: number): void {
    this.level -= units;
  }
}
