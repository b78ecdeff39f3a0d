import type { Steps } from "../../src/primitives/steps.ts";

/** Runs steps to their end and counts the pauses. */
export function countSteps<T>(steps: Steps<T>): { readonly result: T; readonly pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done === true) return { result: value, pauses };
  }
}
