const FIRST_CHUNK_BYTES = 16 * 1024;
const LARGEST_CHUNK_BYTES = 1024 * 1024;

/**
 * An arena allocator for byte arrays that are created and dropped together, cut from a few large chunks. Allocating the
 * 50,000 arrays of a full block one by one would also fragment the memory of the process for good.
 */
export class ByteArena {
  private chunk: Buffer = Buffer.allocUnsafeSlow(FIRST_CHUNK_BYTES);
  private used = 0;

  /** Returns `length` bytes, not cleared. */
  allocate(length: number): Uint8Array {
    if (this.used + length > this.chunk.length) {
      const next = Math.min(2 * this.chunk.length, LARGEST_CHUNK_BYTES);
      this.chunk = Buffer.allocUnsafeSlow(Math.max(next, length));
      this.used = 0;
    }
    const bytes = new Uint8Array(this.chunk.buffer, this.used, length);
    this.used += length;
    return bytes;
  }
}
