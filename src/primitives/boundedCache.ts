/**
 * A map that stays below a total weight by dropping what was not asked for in a long time. A Map keeps its keys in the
 * order they were put, and the oldest are dropped, so an entry that is read is taken out and put in again: but only when
 * half of the limit was put after it, because that costs several times as much as the look-up. What was read since then
 * is never dropped.
 */
export interface BoundedCache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value, weight: number): void;
  /** Drops the entries for which `isStale` holds. */
  forget(isStale: (key: Key) => boolean): void;
}

/** Drops what was put first, until no more than `most` entries are left. */
export function dropOldest(map: Map<unknown, unknown>, most: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}

/** `limit` is in the units of the weights. A value heavier than the limit is not kept at all. */
export function createBoundedCache<Key, Value>(limit: number): BoundedCache<Key, Value> {
  const entries = new Map<Key, Entry<Value>>();
  let total = 0;
  /** Weight of all that was ever put, or put again. */
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
      for (const key of [...entries.keys()]) if (isStale(key)) drop(key);
    },
  };
}

interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
  /** Weight of all that had been put by then, this one included. */
  readonly putAt: number;
}
