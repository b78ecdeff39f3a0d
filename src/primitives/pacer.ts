import { setImmediate as yieldToEventLoop } from "node:timers/promises";

/** Tells long work in pieces when to let the event loop run other work. */
export interface Pacer {
  /** Whether the work should yield now. */
  isDue(): boolean;
  /** Resolves after other work has run. */
  yield(): Promise<void>;
}

/**
 * Limits how long work in pieces blocks the event loop: by time, not by a count of pieces, because sixty-four full blocks of
 * a thousand transactions take longer than the block period.
 */
export class EventLoopPacer implements Pacer {
  readonly #nowMs: () => number;
  #beganAtMs: number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#beganAtMs = nowMs();
  }

  isDue(): boolean {
    return this.sliceMs >= SLICE_MS;
  }

  /** How long the slice has taken so far. */
  get sliceMs(): number {
    return this.#nowMs() - this.#beganAtMs;
  }

  async yield(): Promise<void> {
    await yieldToEventLoop();
    this.restart();
  }

  /** Begins the next slice, in another cycle of the event loop. */
  restart(): void {
    this.#beganAtMs = this.#nowMs();
  }
}

const SLICE_MS = 5;
