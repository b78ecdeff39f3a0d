import type { Steps } from "../../src/primitives/steps.ts";

/** Runs steps to their end and counts, of all bytes that are copied from one array to another, the most between two pauses. */
export function mostCopied<T>(steps: Steps<T>): { readonly result: T; readonly bytes: number } {
  let most = 0;
  for (;;) {
    const { step, bytes } = countingCopies(() => steps.next());
    most = Math.max(most, bytes);
    if (step.done === true) return { result: step.value, bytes: most };
  }
}

function countingCopies<T>(work: () => T): { readonly step: T; readonly bytes: number } {
  const arrays = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;
  const { set, slice } = arrays;
  let bytes = 0;
  arrays.set = function (this: Uint8Array, source, at) {
    bytes += source.length;
    set.call(this, source, at);
  };
  arrays.slice = function (this: Uint8Array<ArrayBuffer>, from, until) {
    const taken = slice.call(this, from, until) as Uint8Array<ArrayBuffer>;
    bytes += taken.length;
    return taken;
  };
  try {
    const step = work();
    return { step, bytes };
  } finally {
    Object.assign(arrays, { set, slice });
  }
}
