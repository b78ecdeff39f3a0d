const FIRST_CHUNK_BYTES = 16 * 1024;
const LARGEST_CHUNK_BYTES = 1024 * 1024;

/**
 * Memory for what is made together and dropped together, cut from a few large pieces. The 50,000 byte arrays that a
 * full block writes would cost as many allocations one by one, and leave the process with gaps in its memory that are
 * never given back.
 */
export class ByteArena {
  private chunk: Buffer = Buffer.allocUnsafeSlow(FIRST_CHUNK_BYTES);
  private used = 0;

  /** `length` bytes, not cleared. */
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
