/**
 * Runs asynchronous work exclusively, in the order of the calls, also after earlier work has failed. Everything that
 * may move the head runs in one mutex, which makes the chain a single writer; so does every job of a thread.
 */
export interface Mutex {
  runExclusive<T>(work: () => Promise<T>): Promise<T>;
  /** Whether work waits for the work in progress. */
  readonly isAwaited: boolean;
}

export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  /** Work in progress, and work that waits. */
  let unfinished = 0;
  return {
    get isAwaited() {
      return unfinished > 1;
    },
    runExclusive(work) {
      unfinished++;
      const result = last.then(work).finally(() => {
        unfinished--;
      });
      last = result.catch(() => undefined);
      return result;
    },
  };
}
