import type { SyncPeer } from "./ports.ts";

/** Whether the node knows how many blocks its peers have. */
export interface Comparison {
  /** Notes that the node has followed up its peers' current claims. */
  noteFollowedUp(): void;
  readonly isMade: boolean;
}

export function createComparison(peers: () => readonly SyncPeer[]): Comparison {
  let wasFollowedUp = false;
  const isHeightKnown = (): boolean => peers().some(({ height }) => height !== undefined);
  return {
    noteFollowedUp() {
      wasFollowedUp = isHeightKnown();
    },
    get isMade() {
      return wasFollowedUp && isHeightKnown();
    },
  };
}
