/** Drops the oldest entries, in insertion order, until at most `most` are left. */
export function dropOldest(entries: Map<unknown, unknown> | Set<unknown>, most: number): void {
  if (entries.size <= most) return;
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    if (entries.size <= most) return;
  }
}

/**
 * A map that stays below a total weight by dropping the least recently read entries (an approximate LRU). A Map keeps its
 * keys in insertion order, and the oldest are dropped, so a read inserts its entry again: but only once half of the limit
 * has been inserted after it, because an insertion costs several times as much as the lookup. Where each entry is small
 * beside the limit, an entry that was read within the last half of the limit is not dropped.
 */
export class BoundedCache<Key, Value> {
  private readonly limit: number;
  private readonly entries = new Map<Key, Entry<Value>>();
  private total = 0;
  /** Total weight of all insertions so far, repeated ones included. */
  private everPut = 0;

  /** `limit` is in the units of the weights. A value heavier than the limit is not stored. */
  constructor(limit: number) {
    this.limit = limit;
  }

  get(key: Key): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (this.everPut - entry.putAt >= this.limit / 2) {
      this.entries.delete(key);
      this.put(key, entry.value, entry.weight);
    }
    return entry.value;
  }

  set(key: Key, value: Value, weight: number): void {
    this.drop(key);
    if (weight > this.limit) return;
    this.put(key, value, weight);
    this.total += weight;
    for (const oldest of this.entries.keys()) {
      if (this.total <= this.limit) return;
      this.drop(oldest);
    }
  }

  /** Drops the entries for which `isStale` holds. */
  forget(isStale: (key: Key, value: Value) => boolean): void {
    for (const [key, { value }] of this.entries) if (isStale(key, value)) this.drop(key);
  }

  private drop(key: Key): void {
    this.total -= this.entries.get(key)?.weight ?? 0;
    this.entries.delete(key);
  }

  private put(key: Key, value: Value, weight: number): void {
    this.everPut += weight;
    this.entries.set(key, { value, weight, putAt: this.everPut });
  }
}

interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
  /** The total weight of all insertions up to and including this one. */
  readonly putAt: number;
}
