/**
 * Runs asynchronous work exclusively, in the order of the calls, also after earlier work has failed. Everything that
 * may move the head runs in one mutex, which makes the chain a single writer; so does every job of a thread.
 */
export interface Mutex {
  runExclusive<T>(work: () => Promise<T>): Promise<T>;
}

export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  return {
    runExclusive(work) {
      const result = last.then(work, work);
      last = result.catch(() => undefined);
      return result;
    },
  };
}
