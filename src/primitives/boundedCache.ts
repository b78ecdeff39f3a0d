/**
 * A map that stays below a total weight by dropping entries that were not read for long (an approximate LRU). A Map
 * keeps its keys in insertion order, and the oldest are dropped, so an entry that is read is inserted again: but only
 * when half of the limit was inserted after it, because that costs several times as much as the lookup. An entry
 * that was read since half of the limit was inserted is not dropped, where each entry weighs little of the limit.
 */
export interface BoundedCache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value, weight: number): void;
  /** Drops the entries for which `isStale` holds. */
  forget(isStale: (key: Key, value: Value) => boolean): void;
}

/** Drops the oldest entries, in insertion order, until at most `most` are left. */
export function dropOldest(entries: Map<unknown, unknown> | Set<unknown>, most: number): void {
  if (entries.size <= most) return;
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    if (entries.size <= most) return;
  }
}

/** `limit` is in the units of the weights. A value heavier than the limit is not stored. */
export function createBoundedCache<Key, Value>(limit: number): BoundedCache<Key, Value> {
  const entries = new Map<Key, Entry<Value>>();
  let total = 0;
  /** Total weight of all insertions so far, repeated ones included. */
  let everPut = 0;

  const drop = (key: Key): void => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };

  const put = (key: Key, value: Value, weight: number): void => {
    everPut += weight;
    entries.set(key, { value, weight, putAt: everPut });
  };

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (everPut - entry.putAt >= limit / 2) {
        entries.delete(key);
        put(key, entry.value, entry.weight);
      }
      return entry.value;
    },
    set(key, value, weight) {
      drop(key);
      if (weight > limit) return;
      put(key, value, weight);
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= limit) return;
        drop(oldest);
      }
    },
    forget(isStale) {
      for (const [key, { value }] of entries) if (isStale(key, value)) drop(key);
    },
  };
}

interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
  /** The total weight of all insertions up to and including this one. */
  readonly putAt: number;
}
