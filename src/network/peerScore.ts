import {
  FIRST_REPUTATION,
  HIGHEST_REPUTATION,
  MAX_USELESS_RESPONSES,
  USELESS_RESPONSE_WINDOW_MS,
} from "./limits.ts";

/** Reputation of a peer (p2p.md#connection-policy): one point up or down for each response. */
export interface PeerScore {
  readonly score: number;
  reward(): void;
  /** True when the peer reached the limit of useless responses within the window. */
  penalise(nowMs: number): boolean;
}

export function createPeerScore(): PeerScore {
  let score = FIRST_REPUTATION;
  let uselessAtMs: number[] = [];
  return {
    get score() {
      return score;
    },
    reward() {
      score = Math.min(score + 1, HIGHEST_REPUTATION);
    },
    penalise(nowMs) {
      score -= 1;
      uselessAtMs = [...uselessAtMs.filter((atMs) => nowMs - atMs < USELESS_RESPONSE_WINDOW_MS), nowMs];
      return uselessAtMs.length >= MAX_USELESS_RESPONSES;
    },
  };
}
