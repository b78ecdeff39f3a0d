import type { Clock } from "../../primitives/clock.ts";
import { PIECE_BYTES, SLOW_PEER_MS } from "../limits.ts";

/** Progress of a transfer: it is stalled when less than one piece was transferred in SLOW_PEER_MS. */
export class Progress {
  readonly #clock: Pick<Clock, "nowMs">;
  #sinceMs: number | undefined;
  /** When the last piece was complete. */
  #markMs = 0;
  #bytesSinceMark = 0;

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** Begins a transfer; has no effect after the first call. */
  begin(): void {
    if (this.#sinceMs !== undefined) return;
    this.#mark();
    this.#sinceMs = this.#markMs;
  }

  advance(bytes: number): void {
    this.#bytesSinceMark += bytes;
    if (this.#bytesSinceMark >= PIECE_BYTES) this.#mark();
  }

  end(): void {
    this.#sinceMs = undefined;
  }

  /** When the transfer began; undefined when none is in progress. */
  get sinceMs(): number | undefined {
    return this.#sinceMs;
  }

  get isStalled(): boolean {
    return this.#sinceMs !== undefined && this.#clock.nowMs() - this.#markMs >= SLOW_PEER_MS;
  }

  #mark(): void {
    this.#markMs = this.#clock.nowMs();
    this.#bytesSinceMark = 0;
  }
}
