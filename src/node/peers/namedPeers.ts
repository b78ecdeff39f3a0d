import { type Enode, showEnode } from "../../config/enode.ts";
import type { Network } from "../../network/network.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { dialAddress } from "./peerInfo.ts";

/** Bootnodes and static nodes, as they were configured last. */
export class NamedPeers {
  private current: readonly Enode[];

  constructor(nodes: readonly Enode[]) {
    this.current = nodes;
  }

  get nodes(): readonly Enode[] {
    return this.current;
  }

  /**
   * Replaces the nodes, and returns what changed in the operator's words. Connections with nodes that are no longer named stay,
   * but are not renewed.
   */
  replace(nodes: readonly Enode[], network: Pick<Network, "addPeer" | "stopMaintaining">): string[] {
    const before = new Map(this.current.map((node) => [showEnode(node), node]));
    const after = new Map(nodes.map((node) => [showEnode(node), node]));
    const removed = withoutThose(before, after);
    const added = withoutThose(after, before);
    for (const { nodeId } of removed) network.stopMaintaining(nodeId);
    const removedIds = new Set(removed.map(({ nodeId }) => toKey(nodeId)));
    for (const [url, node] of after) {
      const address = dialAddress(node);
      // A removed one may be named by another URL too, that of a bootnode.
      const isAbsent = !before.has(url) || removedIds.has(toKey(node.nodeId));
      if (address !== undefined && isAbsent) network.addPeer(address);
    }
    this.current = nodes;
    if (added.length === 0 && removed.length === 0) return [];
    return [`static nodes: ${added.length} added, ${removed.length} removed`];
  }
}

function withoutThose(nodes: ReadonlyMap<string, Enode>, others: ReadonlyMap<string, Enode>): Enode[] {
  return [...nodes].flatMap(([url, node]) => (others.has(url) ? [] : [node]));
}
