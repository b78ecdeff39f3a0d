import { dropOldest } from "../../primitives/boundedCache.ts";
import { toHex } from "../../primitives/hex.ts";
import type { Endpoint } from "./endpoint.ts";
import type { NodeContact, ReceivedPacket } from "./packets.ts";
import type { NodeSource } from "./pingLimits.ts";

/** Most nodes, or requests, remembered of each source: those that call must not displace those that were named. */
const MAX_DENIED = 64;
/** Most of each source that are judged in one review, because each may cost a question to a contract. */
const JUDGED_IN_REVIEW = 8;

/** A request that was not answered. */
export interface DeniedRequest {
  readonly received: ReceivedPacket;
  readonly from: Endpoint;
}

export interface DeniedNode {
  readonly node: NodeContact;
  readonly source: NodeSource;
  /** The last request of its kind that the node sent; undefined where this node was about to ping it. */
  readonly request: DeniedRequest | undefined;
}

/**
 * Nodes that were not contacted, and requests that were not answered, because the nodes were not permitted or the answer was
 * awaited. They are judged again when the rules may have changed, those first that have waited longest.
 */
export class DeniedNodes {
  private readonly bySource: Readonly<Record<NodeSource, Map<string, DeniedNode>>> = {
    bootnode: new Map(),
    named: new Map(),
    called: new Map(),
  };

  note(node: NodeContact, source: NodeSource, request?: DeniedRequest): void {
    const denied = this.bySource[source];
    const key = `${toHex(node.nodeId)} ${request?.received.packet.kind}`;
    denied.delete(key);
    denied.set(key, { node, source, request });
    dropOldest(denied, MAX_DENIED);
  }

  /** Removes and returns those to judge now; what is denied again must be noted again. */
  take(): readonly DeniedNode[] {
    return SOURCES.flatMap((source) => {
      const denied = this.bySource[source];
      const taken = [...denied].slice(0, JUDGED_IN_REVIEW);
      for (const [key] of taken) denied.delete(key);
      return taken.map(([, one]) => one);
    });
  }
}

const SOURCES: readonly NodeSource[] = ["bootnode", "named", "called"];
