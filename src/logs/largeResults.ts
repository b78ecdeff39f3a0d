/**
 * Searches with large results, of which one goes on at a time. The others wait in the order in which they came, with what they have
 * found so far: one that nobody wants any more is let go at once.
 */
export class LargeResults<Search> {
  private holder: Search | undefined;
  private readonly waiting = new Map<Search, () => void>();

  /** Resolves when no other search goes on, or when this one was given up meanwhile. */
  begin(search: Search): void | Promise<void> {
    this.holder ??= search;
    if (this.holder === search) return;
    return new Promise((resume) => this.waiting.set(search, resume));
  }

  /** Lets a search that nobody wants any more wait no longer. One that goes on is over when it ends. */
  giveUp(search: Search): void {
    const resume = this.waiting.get(search);
    this.waiting.delete(search);
    resume?.();
  }

  /** The search has ended, whether it had begun or not. */
  end(search: Search): void {
    if (this.holder !== search) return;
    const [next] = this.waiting;
    this.holder = next?.[0];
    if (next !== undefined) this.giveUp(next[0]);
  }
}
