import {
  FIRST_REPUTATION,
  HIGHEST_REPUTATION,
  MAX_USELESS_RESPONSES,
  USELESS_RESPONSE_WINDOW_MS,
} from "./limits.ts";

/** How helpful a peer has been (p2p.md#connection-policy): one point up or down for each answer. */
export interface PeerScore {
  readonly score: number;
  reward(): void;
  /** True when that was one too many within the window: the peer is of no use. */
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
