import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * A turn of the event loop for work in pieces, after which others have theirs. By the time and not by the count of pieces:
 * sixty-four full blocks of a thousand transactions take longer than the period of blocks.
 */
export class EventLoopSlice {
  #beganAtMs = performance.now();

  /** Whether the pieces have held the event loop long enough. */
  get isOver(): boolean {
    return performance.now() - this.#beganAtMs >= SLICE_MS;
  }

  /** Begins the next one when others have had theirs. */
  async yield(): Promise<void> {
    await nextTurn();
    this.#beganAtMs = performance.now();
  }
}

const SLICE_MS = 5;
