/** Received bytes that were not read yet, in one buffer: each byte is copied a bounded number of times. */
export interface ByteQueue {
  readonly length: number;
  append(chunk: Uint8Array): void;
  /** Takes the next `count` bytes, which must be there: a view that is valid until the next append. */
  take(count: number): Uint8Array;
  /** The same view at `offset`, without taking the bytes. */
  view(offset: number, count: number): Uint8Array;
  /** The byte at `offset` from the front, undefined beyond the end. */
  peek(offset: number): number | undefined;
  /** Announces that this many bytes will be needed at once: the buffer grows no further than that to hold them. */
  expect(count: number): void;
  clear(): void;
  /** Size of the buffer. */
  readonly capacity: number;
}

/** Buffer that is kept when all was read; a larger one is released. */
const KEPT_BYTES = 64 * 1024;

export function createByteQueue(): ByteQueue {
  let buffer = new Uint8Array(1024);
  let from = 0;
  let until = 0;
  let expected = 0;

  function makeRoom(count: number): void {
    const waiting = until - from;
    const needed = waiting + count;
    // Moving pays only if it frees at least as much as it moves; otherwise the buffer doubles.
    if (needed <= buffer.length && waiting <= from) {
      buffer.copyWithin(0, from, until);
    } else {
      const roomy = expected > waiting ? Math.min(buffer.length * 2, expected) : buffer.length * 2;
      const larger = new Uint8Array(Math.max(needed, roomy));
      larger.set(buffer.subarray(from, until));
      buffer = larger;
    }
    from = 0;
    until = waiting;
  }

  function reset(): void {
    buffer = new Uint8Array(0);
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
      if (until + chunk.length > buffer.length) makeRoom(chunk.length);
      buffer.set(chunk, until);
      until += chunk.length;
    },
    take(count) {
      if (count > until - from) throw new RangeError(`only ${until - from} of ${count} bytes are there`);
      from += count;
      expected = 0;
      const taken = buffer.subarray(from - count, from);
      // A peer that sent something large may be silent for long.
      if (from === until && buffer.length > KEPT_BYTES) reset();
      return taken;
    },
    view(offset, count) {
      if (offset + count > until - from) throw new RangeError(`only ${until - from} bytes are there`);
      return buffer.subarray(from + offset, from + offset + count);
    },
    peek: (offset) => (from + offset < until ? buffer[from + offset] : undefined),
    expect(count) {
      expected = count;
    },
    clear: reset,
    get capacity() {
      return buffer.length;
    },
  };
}
