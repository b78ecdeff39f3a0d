/**
 * Searches with large results, only one of which runs at a time. The others wait in order of arrival, with what they have
 * found so far: one that nobody needs any more is released at once.
 */
export class LargeResults<Search> {
  private holder: Search | undefined;
  private readonly waiting = new Map<Search, () => void>();

  /** Resolves when no other search runs, or when this one was given up meanwhile. */
  begin(search: Search): void | Promise<void> {
    this.holder ??= search;
    if (this.holder === search) return;
    return new Promise((resume) => this.waiting.set(search, resume));
  }

  /** Releases a waiting search that nobody needs any more. A running one is over when it ends. */
  giveUp(search: Search): void {
    const resume = this.waiting.get(search);
    this.waiting.delete(search);
    resume?.();
  }

  /** Notes that the search has ended, whether or not it had begun. */
  end(search: Search): void {
    if (this.holder !== search) return;
    const [next] = this.waiting;
    this.holder = next?.[0];
    if (next !== undefined) this.giveUp(next[0]);
  }
}
