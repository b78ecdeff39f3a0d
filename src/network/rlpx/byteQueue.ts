/** Bytes that arrived and were not read yet, in one piece of memory: each byte is copied a bounded number of times. */
export interface ByteQueue {
  readonly length: number;
  append(chunk: Uint8Array): void;
  /** The next `count` bytes, which must be there: a view that holds until the next append. */
  take(count: number): Uint8Array;
  /** Bytes from `offset` on, which must be there, as take gives them; nothing is taken. */
  view(offset: number, count: number): Uint8Array;
  /** The byte at `offset` from the front, undefined beyond the end; nothing is taken. */
  peek(offset: number): number | undefined;
  /** So many bytes will have to be there at once: no memory beyond them is taken to hold them. */
  expect(count: number): void;
  clear(): void;
  /** Bytes of memory that are taken. */
  readonly capacity: number;
}

/** Memory that is kept when all was read; what a large message took beyond it is given back. */
const KEPT_BYTES = 64 * 1024;

export function createByteQueue(): ByteQueue {
  let memory = new Uint8Array(1024);
  let from = 0;
  let until = 0;
  let expected = 0;

  function makeRoom(count: number): void {
    const waiting = until - from;
    const needed = waiting + count;
    // Moving is cheap only if it frees at least as much as it moves; otherwise the memory doubles.
    if (needed <= memory.length && waiting <= from) {
      memory.copyWithin(0, from, until);
    } else {
      const roomy = expected > waiting ? Math.min(memory.length * 2, expected) : memory.length * 2;
      const larger = new Uint8Array(Math.max(needed, roomy));
      larger.set(memory.subarray(from, until));
      memory = larger;
    }
    from = 0;
    until = waiting;
  }

  function reset(): void {
    memory = new Uint8Array(0);
    from = 0;
    until = 0;
    expected = 0;
  }

  return {
    get length() {
      return until - from;
    },
    append(chunk) {
      if (from === until) {
        from = 0;
        until = 0;
      }
      if (until + chunk.length > memory.length) makeRoom(chunk.length);
      memory.set(chunk, until);
      until += chunk.length;
    },
    take(count) {
      if (count > until - from) throw new RangeError(`only ${until - from} of ${count} bytes are there`);
      from += count;
      expected = 0;
      const taken = memory.subarray(from - count, from);
      // Whoever sent something large may say nothing more for long.
      if (from === until && memory.length > KEPT_BYTES) reset();
      return taken;
    },
    view(offset, count) {
      if (offset + count > until - from) throw new RangeError(`only ${until - from} bytes are there`);
      return memory.subarray(from + offset, from + offset + count);
    },
    peek: (offset) => (from + offset < until ? memory[from + offset] : undefined),
    expect(count) {
      expected = count;
    },
    clear: reset,
    get capacity() {
      return memory.length;
    },
  };
}
