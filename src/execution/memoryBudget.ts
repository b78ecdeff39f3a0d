import type { MemoryMeter } from "../state/overlay.ts";

/** A call keeps more memory than it may: no halt that code could see, but the end of the work. */
export class MemoryExhausted extends Error {
  override name = "MemoryExhausted";
}

/**
 * Counts what a call keeps, for work whose gas is whatever its caller likes: what 64 bits of gas buy is more than any
 * computer has. That is the memory of its frames, which the limit of a worker's heap does not count; what it writes to
 * the state and reads of it; and what it logs. Objects are counted as what they take at most.
 */
export class MemoryBudget implements MemoryMeter {
  private leftBytes: number;

  constructor(limitBytes: number) {
    this.leftBytes = limitBytes;
  }

  take(bytes: number): void {
    if (bytes > this.leftBytes) throw new MemoryExhausted("the call takes too much memory");
    this.leftBytes -= bytes;
  }

  release(bytes: number): void {
    this.leftBytes += bytes;
  }
}
