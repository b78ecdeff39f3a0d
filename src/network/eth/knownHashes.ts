/** The hashes (as keys) that a peer is known to have, or that were seen: the latest so many, or half as many at least. */
export interface KnownHashes {
  has(key: string): boolean;
  add(key: string): void;
}

/** Two generations: when the younger one is full the elder one is forgotten, which costs nothing for each hash. */
export function createKnownHashes(limit: number): KnownHashes {
  let younger = new Set<string>();
  let elder = new Set<string>();
  return {
    has: (key) => younger.has(key) || elder.has(key),
    add(key) {
      younger.add(key);
      if (younger.size * 2 < limit) return;
      elder = younger;
      younger = new Set();
    },
  };
}
