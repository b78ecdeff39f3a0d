import type { MemoryMeter } from "../state/overlay.ts";

/** A call exceeds its memory budget: not a halt that code could observe, but an abort of the simulation. */
export class MemoryExhausted extends Error {
  override name = "MemoryExhausted";
}

/**
 * An instruction needs memory beyond 2 GiB, which gas can pay for if a block holds more than 8.8 trillion. Besu's memory is
 * a Java array and ends there: its transaction is then invalid, whatever the machine (ibft2.md#limits-of-execution).
 */
export class MemoryBeyondLimit extends MemoryExhausted {
  override name = "MemoryBeyondLimit";
}

/**
 * Limits the memory of a call whose gas its caller chooses freely: 64 bits of gas buy more memory than any computer
 * has. Counts the memory of its frames, which a worker's heap limit does not cover; the state that it reads and writes;
 * and its logs. Objects count with an upper bound of their size.
 */
export class MemoryBudget implements MemoryMeter {
  private leftBytes: number;
  private readonly exceeded: () => never;

  /** `exceeded` throws an error other than MemoryExhausted. */
  constructor(limitBytes: number, exceeded: () => never = memoryExhausted) {
    this.leftBytes = limitBytes;
    this.exceeded = exceeded;
  }

  take(bytes: number): void {
    if (bytes > this.leftBytes) this.exceeded();
    this.leftBytes -= bytes;
  }

  release(bytes: number): void {
    this.leftBytes += bytes;
  }
}

function memoryExhausted(): never {
  throw new MemoryExhausted("the call takes too much memory");
}
