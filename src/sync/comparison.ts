import type { SyncPeer } from "./ports.ts";

/** Whether the node knows how many blocks its peers have. */
export class Comparison {
  private readonly peers: () => readonly SyncPeer[];
  private wasFollowedUp = false;

  constructor(peers: () => readonly SyncPeer[]) {
    this.peers = peers;
  }

  /** Notes that the node has followed up its peers' current claims. */
  noteFollowedUp(): void {
    this.wasFollowedUp = this.isHeightKnown();
  }

  get isMade(): boolean {
    return this.wasFollowedUp && this.isHeightKnown();
  }

  private isHeightKnown(): boolean {
    return this.peers().some(({ height }) => height !== undefined);
  }
}
