/**
 * Runs pieces of work one after another, each when the one before has ended, whatever came of it. Everything that may
 * move the head takes a turn, which makes the chain one writer; so does every job of a thread.
 */
export interface Mutex {
  runExclusive<T>(work: () => Promise<T>): Promise<T>;
}

export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  return {
    runExclusive(work) {
      const turn = last.then(work, work);
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}
