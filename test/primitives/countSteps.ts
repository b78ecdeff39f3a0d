import type { Steps } from "../../src/primitives/steps.ts";

/** Does work to its end; with how many places to pause there were. */
export function countSteps<T>(steps: Steps<T>): { readonly result: T; readonly pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done === true) return { result: value, pauses };
  }
}
