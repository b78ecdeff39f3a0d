/** Runs pieces of work one after another, each when the one before has ended, whatever came of it. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>;
}

/** The one writer of the chain: everything that may move the head takes a turn here. */
export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take(work) {
      const turn = last.then(work, work);
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}
