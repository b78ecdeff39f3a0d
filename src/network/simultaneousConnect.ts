import type { Clock } from "../primitives/clock.ts";
import { compareBytes } from "../primitives/hex.ts";
import type { ConnectedPeer } from "./connectedPeer.ts";
import { CROSS_CONNECTION_LINGER_MS } from "./limits.ts";

/**
 * Chooses between the two connections of a peer that was dialed while it dialed this node. The losing one is closed a little
 * later, when its messages have arrived, or stays if the other has ended by then.
 */
export function settleSimultaneousConnect(ownId: Uint8Array, peer: ConnectedPeer, clock: Clock): void {
  for (const link of peer.links) {
    link.isLasting = isLastingDirection(ownId, peer.nodeId, link.connection);
    if (link.isLasting) continue;
    link.timer?.cancel();
    link.timer = clock.at(clock.nowMs() + CROSS_CONNECTION_LINGER_MS, () => {
      if (peer.links.size > 1)
        link.connection.disconnect("alreadyConnected", "both ends had dialed each other");
      else link.isLasting = true;
    });
  }
}

/** Whether a connection stays when two have crossed: the one opened by the node with the lower id does. */
export function isLastingDirection(
  ownId: Uint8Array,
  nodeId: Uint8Array,
  { isInbound }: { readonly isInbound: boolean },
): boolean {
  return compareBytes(ownId, nodeId) < 0 !== isInbound;
}
