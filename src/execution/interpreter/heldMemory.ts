/** The frames of a machine hold more memory than they may: no halt that code could see, but the end of the work. */
export class MemoryExhausted extends Error {
  override name = "MemoryExhausted";
}

/**
 * Counts what the frames under way hold together, for work whose gas is whatever its caller likes: what 64 bits of gas
 * buy is more than any computer has. The limit of a worker's heap does not count such memory.
 */
export class HeldMemory {
  private leftBytes: number;

  constructor(limitBytes: number) {
    this.leftBytes = limitBytes;
  }

  /** Throws MemoryExhausted. */
  take(bytes: number): void {
    this.leftBytes -= bytes;
    if (this.leftBytes < 0) throw new MemoryExhausted("the call takes too much memory");
  }

  giveBack(bytes: number): void {
    this.leftBytes += bytes;
  }
}
