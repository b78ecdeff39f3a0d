/**
 * Recent hashes (as keys), such as those that a peer is known to have: the latest `limit`, or at least half as many.
 */
export interface KnownHashes {
  has(key: string): boolean;
  add(key: string): void;
}

/** Two generations: when the younger one is full the older one is dropped, which costs nothing per hash. */
export function createKnownHashes(limit: number): KnownHashes {
  let younger = new Set<string>();
  let older = new Set<string>();
  return {
    has: (key) => younger.has(key) || older.has(key),
    add(key) {
      younger.add(key);
      if (younger.size * 2 < limit) return;
      older = younger;
      younger = new Set();
    },
  };
}
