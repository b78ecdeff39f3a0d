/** The hashes (as keys) that a peer is known to have, or that were seen: the latest so many. */
export interface KnownHashes {
  has(key: string): boolean;
  add(key: string): void;
}

export function createKnownHashes(limit: number): KnownHashes {
  const keys = new Set<string>();
  return {
    has: (key) => keys.has(key),
    add(key) {
      keys.delete(key);
      keys.add(key);
      if (keys.size <= limit) return;
      for (const oldest of keys) {
        keys.delete(oldest);
        return;
      }
    },
  };
}
