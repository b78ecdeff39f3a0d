/** Largest buffer kept when everything was read; a larger one is released. */
const KEPT_BYTES = 64 * 1024;

/**
 * Received bytes that are not read yet, in one buffer: each byte is copied a bounded number of times. The unread bytes are
 * those of `buffer` between `from` and `until`.
 */
export class ByteQueue {
  private buffer = new Uint8Array(1024);
  private from = 0;
  private until = 0;
  private expected = 0;

  get length(): number {
    return this.until - this.from;
  }

  /** Size of the buffer. */
  get capacity(): number {
    return this.buffer.length;
  }

  append(chunk: Uint8Array): void {
    if (this.from === this.until) {
      this.from = 0;
      this.until = 0;
    }
    if (this.until + chunk.length > this.buffer.length) this.makeRoom(chunk.length);
    this.buffer.set(chunk, this.until);
    this.until += chunk.length;
  }

  /** Takes the next `count` bytes, which must be available, as a view that is valid until the next append. */
  take(count: number): Uint8Array {
    if (count > this.length) throw new RangeError(`only ${this.length} of ${count} bytes are there`);
    this.from += count;
    this.expected = 0;
    const taken = this.buffer.subarray(this.from - count, this.from);
    // A large buffer is released, because its peer may then be silent for long.
    if (this.from === this.until && this.buffer.length > KEPT_BYTES) this.clear();
    return taken;
  }

  /** A view of the `count` bytes at `offset`, without taking them. */
  view(offset: number, count: number): Uint8Array {
    if (offset + count > this.length) throw new RangeError(`only ${this.length} bytes are there`);
    return this.buffer.subarray(this.from + offset, this.from + offset + count);
  }

  /** The byte at `offset` from the front, undefined beyond the end. */
  peek(offset: number): number | undefined {
    return this.from + offset < this.until ? this.buffer[this.from + offset] : undefined;
  }

  /** Announces that this many bytes will be needed at once: the buffer grows no further than that to hold them. */
  expect(count: number): void {
    this.expected = count;
  }

  clear(): void {
    this.buffer = new Uint8Array(0);
    this.from = 0;
    this.until = 0;
    this.expected = 0;
  }

  private makeRoom(count: number): void {
    const waiting = this.length;
    const needed = waiting + count;
    // Moving pays only if it frees at least as much as it moves; otherwise the buffer doubles.
    if (needed <= this.buffer.length && waiting <= this.from) {
      this.buffer.copyWithin(0, this.from, this.until);
    } else {
      const doubled = this.buffer.length * 2;
      const roomy = this.expected > waiting ? Math.min(doubled, this.expected) : doubled;
      const larger = new Uint8Array(Math.max(needed, roomy));
      larger.set(this.buffer.subarray(this.from, this.until));
      this.buffer = larger;
    }
    this.from = 0;
    this.until = waiting;
  }
}
