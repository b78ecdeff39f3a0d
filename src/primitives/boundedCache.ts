/**
 * A map that stays below a total weight by dropping what was not asked for the longest. A Map keeps its keys in the
 * order they were put, so an entry that is read is taken out and put in again.
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
  const entries = new Map<Key, { readonly value: Value; readonly weight: number }>();
  let total = 0;

  const drop = (key: Key): void => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, weight) {
      drop(key);
      if (weight > limit) return;
      entries.set(key, { value, weight });
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
