import type { Metrics } from "../../observability/registry.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { CheckCounts } from "../checkCounts.ts";
import type { NodeContract, NodePermission, NodeRequester } from "./nodeContract.ts";
import type { NodeEndpoint } from "./nodePayload.ts";

export interface NodePermissionsParts {
  readonly contract: Pick<NodeContract, "permits">;
  /** This node as others call it; undefined before it listens. */
  readonly own: () => NodeEndpoint | undefined;
  readonly bootnodes: readonly NodeEndpoint[];
  /** Bootnodes and static nodes, as they were configured last. */
  readonly fixed: () => readonly NodeEndpoint[];
  /** Whether the operator's list has a node; true where there is no list. */
  readonly isListed: (node: NodeEndpoint) => boolean;
  /** Ids of the connected nodes. */
  readonly connected: () => readonly Uint8Array[];
  readonly metrics: Metrics | undefined;
}

/**
 * Decides about connections where a contract is asked, in Besu's order:
 *
 *     1. until the node is in sync for the first time, its bootnodes and static nodes are permitted: the state that the
 *        contract is asked on is old; a node that is among its own accepts all that call it, as others share its list
 *     2. while no other node is connected, bootnodes are permitted
 *     3. until the node is in sync for the first time, others are denied, if there are bootnodes or static nodes
 *     4. the operator's list, then the contract
 */
export class NodePermissions {
  private readonly parts: NodePermissionsParts;
  private readonly counts: CheckCounts;
  private wasInSync = false;

  constructor(parts: NodePermissionsParts) {
    this.parts = parts;
    this.counts = new CheckCounts(parts.metrics, "sync_status_node", "sync status");
    parts.metrics?.gauge(
      {
        category: "PERMISSIONING",
        name: "sync_status_node_sync_reached",
        help: "1 once the node was in sync, before which only bootnodes and static nodes are permitted",
      },
      () => (this.wasInSync ? 1 : 0),
    );
  }

  /** Notes that the node is in sync, once and for all. */
  noteInSync(): void {
    this.wasInSync = true;
  }

  get hasReachedSync(): boolean {
    return this.wasInSync;
  }

  /** Whether a connection with the node is permitted, which this node opens ("outbound") or the other one. */
  judge(node: NodeEndpoint, direction: "inbound" | "outbound", requester: NodeRequester): NodePermission {
    const { contract, bootnodes, fixed, isListed } = this.parts;
    const own = this.parts.own();
    if (own === undefined) return "denied";
    if (!this.wasInSync && this.isFixed(node, own, direction)) return this.countedBeforeSync("permitted");
    if (isAmong(bootnodes, node) && !this.hasOtherPeers()) return "permitted";
    if (!this.wasInSync && fixed().length > 0) return this.countedBeforeSync("denied");
    if (!isListed(node)) return "denied";
    return contract.permits(
      direction === "outbound" ? { source: own, destination: node } : { source: node, destination: own },
      requester,
    );
  }

  /** Whether the other end is a bootnode or static node, or calls this one, which is. */
  private isFixed(node: NodeEndpoint, own: NodeEndpoint, direction: "inbound" | "outbound"): boolean {
    const fixed = this.parts.fixed();
    return isAmong(fixed, node) || (direction === "inbound" && isAmong(fixed, own));
  }

  private countedBeforeSync(answer: "permitted" | "denied"): NodePermission {
    this.counts.asked();
    this.counts.answered(answer);
    return answer;
  }

  private hasOtherPeers(): boolean {
    const { connected, bootnodes } = this.parts;
    return connected().some((id) => !bootnodes.some(({ nodeId }) => equalBytes(nodeId, id)));
  }
}

function isAmong(nodes: readonly NodeEndpoint[], node: NodeEndpoint): boolean {
  return nodes.some(
    ({ nodeId, host, tcpPort }) =>
      tcpPort === node.tcpPort && host === node.host && equalBytes(nodeId, node.nodeId),
  );
}
