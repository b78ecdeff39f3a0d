/**
 * Long work in steps of a few hundred microseconds, with a place to pause after each. It is for whoever drives it to let
 * others have their turn there (inSteps in execution/yieldPolicy.ts), or to go on at once. What it reads must stay as it is
 * meanwhile, or the driver gives it up: it then does nothing more.
 */
export type Steps<T> = Generator<unknown, T, void>;

/** Without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
