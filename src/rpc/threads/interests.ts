/*
 * Both sides: which events the callers of each thread wait for. The thread writes it in shared memory before it answers a
 * subscription, and the main thread reads it: a message would come later than an answer by another thread.
 */

/** Kinds of events, as bits. */
export const ADDED = 1;
export const DROPPED = 2;
export const HEADS = 4;

export interface Interests {
  readonly memory: SharedArrayBuffer;
  of(thread: number): number;
  change(thread: number, kinds: number): void;
}

export function openInterests(threads: number, memory = new SharedArrayBuffer(4 * threads)): Interests {
  const kinds = new Int32Array(memory);
  return {
    memory,
    of: (thread) => Atomics.load(kinds, thread),
    change: (thread, wanted) => void Atomics.store(kinds, thread, wanted),
  };
}
