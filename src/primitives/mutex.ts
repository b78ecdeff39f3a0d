/**
 * Runs asynchronous work exclusively, in the order of the calls, even after earlier work has failed. Everything that may
 * move the head runs in one mutex, which makes the chain a single writer; so does every job of a thread.
 */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve();
  /** Work in progress, and work that waits. */
  private unfinished = 0;

  /** Whether work waits for the work in progress. */
  get isAwaited(): boolean {
    return this.unfinished > 1;
  }

  runExclusive<T>(work: () => Promise<T>): Promise<T> {
    this.unfinished++;
    const result = this.last.then(work).finally(() => {
      this.unfinished--;
    });
    this.last = result.catch(() => undefined);
    return result;
  }
}
