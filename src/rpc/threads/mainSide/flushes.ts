/** The main thread's side of a thread's counts that are about to be read (metricsForwarder.ts). */
export interface Flushes {
  /** Resolves when all that the thread has counted up to now has come, or after FLUSH_LIMIT_MS: a thread may be held up. */
  flush(): Promise<void>;
  /** The thread has sent what it had. */
  flushed(): void;
}

const FLUSH_LIMIT_MS = 200;

/** Has one request under way at most; those who ask meanwhile share the next one. */
export function createFlushes(post: () => void): Flushes {
  let asked = new Set<() => void>();
  let next = new Set<() => void>();
  let isUnderWay = false;

  function begin(): void {
    isUnderWay = true;
    [asked, next] = [next, new Set()];
    post();
  }

  return {
    flush: () =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(limit);
          asked.delete(done);
          next.delete(done);
          resolve();
        };
        const limit = setTimeout(done, FLUSH_LIMIT_MS).unref();
        next.add(done);
        if (!isUnderWay) begin();
      }),
    flushed() {
      isUnderWay = false;
      for (const done of [...asked]) done();
      if (next.size > 0) begin();
    },
  };
}
