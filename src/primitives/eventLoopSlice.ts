import { setImmediate as yieldToEventLoop } from "node:timers/promises";

/**
 * Limits how long work in pieces blocks the event loop. Limited by time and not by a count of pieces: sixty-four full
 * blocks of a thousand transactions take longer than the block period.
 */
export class EventLoopSlice {
  #beganAtMs = performance.now();

  /** Whether the work should yield now. */
  get isOver(): boolean {
    return performance.now() - this.#beganAtMs >= SLICE_MS;
  }

  /** Lets the event loop run other work, then begins the next slice. */
  async yield(): Promise<void> {
    await yieldToEventLoop();
    this.restart();
  }

  /** Begins the next slice, in another cycle of the event loop. */
  restart(): void {
    this.#beganAtMs = performance.now();
  }
}

const SLICE_MS = 5;
