/**
 * Recent hashes (as keys), such as those that a peer is known to have: the latest `limit`, or at least half as many. There
 * are two generations: when the younger one is full the older one is dropped, which costs nothing per hash.
 */
export class KnownHashes {
  private readonly limit: number;
  private younger = new Set<string>();
  private older = new Set<string>();

  constructor(limit: number) {
    this.limit = limit;
  }

  has(key: string): boolean {
    return this.younger.has(key) || this.older.has(key);
  }

  add(key: string): void {
    this.younger.add(key);
    if (this.younger.size * 2 < this.limit) return;
    this.older = this.younger;
    this.younger = new Set();
  }
}
