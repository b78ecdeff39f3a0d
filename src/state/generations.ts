/**
 * A bounded map that forgets what was not used for long: two generations, the younger of which becomes the older when
 * it is half full, and whatever is asked for moves to the younger. Nearly as good as strict order of use, at the cost
 * of a plain Map.
 */
export interface Generations<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  clear(): void;
}

/** At most `limit` units are kept, where a value counts for `weightOf(value)` of them. */
export function createGenerations<Key, Value>(
  limit: number,
  weightOf: (value: Value) => number,
): Generations<Key, Value> {
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();
  let youngWeight = 0;

  function set(key: Key, value: Value): void {
    const before = young.get(key);
    youngWeight += weightOf(value) - (before === undefined ? 0 : weightOf(before));
    young.set(key, value);
    if (youngWeight <= limit / 2) return;
    old = young;
    young = new Map();
    youngWeight = 0;
  }

  return {
    get: (key) => {
      const recent = young.get(key);
      if (recent !== undefined) return recent;
      const value = old.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    set,
    delete: (key) => {
      const before = young.get(key);
      if (before !== undefined) youngWeight -= weightOf(before);
      young.delete(key);
      old.delete(key);
    },
    clear: () => {
      young = new Map();
      old = new Map();
      youngWeight = 0;
    },
  };
}
