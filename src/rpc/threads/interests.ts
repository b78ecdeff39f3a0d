/** Kinds of events of the pool that a thread has sent only while it has subscribers to them. */
export const ADDED = 1;
export const DROPPED = 2;

/** What each thread wants sent, in shared memory: a message would come later than an answer by another thread. */
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
