import type { Clock } from "../primitives/clock.ts";

/** Time budget of one peer for all its responses of a range together. */
export class RequestBudget {
  readonly #clock: Clock;
  readonly #parts: { readonly firstMs: number; readonly isReplaceable: () => boolean };
  #leftMs: number;

  constructor(clock: Clock, parts: { readonly firstMs: number; readonly isReplaceable: () => boolean }) {
    this.#clock = clock;
    this.#parts = parts;
    this.#leftMs = parts.firstMs;
  }

  /** The response, or undefined when the budget is spent and another peer could be asked. */
  async wait<T>(response: Promise<T>): Promise<T | undefined> {
    const startMs = this.#clock.nowMs();
    try {
      return await new Promise((resolve, reject) => {
        const check = (): void => {
          if (this.#parts.isReplaceable()) resolve(undefined);
          else timer = this.#clock.at(this.#clock.nowMs() + RECHECK_MS, check);
        };
        let timer = this.#clock.at(startMs + Math.max(this.#leftMs, 0), check);
        response.then(resolve, reject).finally(() => timer.cancel());
      });
    } finally {
      this.#leftMs -= this.#clock.nowMs() - startMs;
    }
  }

  /** Extends the budget after a delivery. */
  extend(ms: number): void {
    this.#leftMs += ms;
  }
}

/** Interval of the checks for another peer once the budget is spent. */
const RECHECK_MS = 500;
