import {
  FIRST_REPUTATION,
  HIGHEST_REPUTATION,
  MAX_USELESS_RESPONSES,
  USELESS_RESPONSE_WINDOW_MS,
} from "./limits.ts";

/** Reputation of a peer (p2p.md#connection-policy): one point up or down for each response. */
export class PeerScore {
  #score = FIRST_REPUTATION;
  #uselessAtMs: number[] = [];

  get score(): number {
    return this.#score;
  }

  reward(): void {
    this.#score = Math.min(this.#score + 1, HIGHEST_REPUTATION);
  }

  /** True when the peer reached the limit of useless responses within the window. */
  penalise(nowMs: number): boolean {
    this.#score -= 1;
    this.#uselessAtMs = [
      ...this.#uselessAtMs.filter((atMs) => nowMs - atMs < USELESS_RESPONSE_WINDOW_MS),
      nowMs,
    ];
    return this.#uselessAtMs.length >= MAX_USELESS_RESPONSES;
  }
}
