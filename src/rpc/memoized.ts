/**
 * Remembers what `make` made of `source` until the source is another object: an operator may replace lists while a server
 * runs.
 */
export function memoized<Source, Made>(source: () => Source, make: (source: Source) => Made): () => Made {
  let from = source();
  let made = make(from);
  return () => {
    const now = source();
    if (now !== from) {
      made = make(now);
      from = now;
    }
    return made;
  };
}
