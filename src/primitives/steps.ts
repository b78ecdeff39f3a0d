/**
 * Long work in steps of a few hundred microseconds, with a `yield` after each. The driver yields to the event loop
 * there (inSteps in execution/yieldPolicy.ts), or continues at once. The data that the work reads must not change
 * meanwhile; if it does, the driver abandons the generator.
 */
export type Steps<T> = Generator<unknown, T, void>;

/** Runs all steps without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
