import { dropOldest } from "../../primitives/boundedCache.ts";
import type { Clock } from "../../primitives/clock.ts";
import { toHex } from "../../primitives/hex.ts";
import { isLocal } from "./endpoint.ts";
import type { NodeContact } from "./packets.ts";
import type { DiscoveryRequests } from "./requests.ts";

/** Who brought a node that is to be pinged: itself, another node or a list, or the operator. */
export type NodeSource = "called" | "named" | "bootnode";

/** A node without an answer is not pinged again before that. */
const REPEAT_PING_MS = 10_000;
const MAX_RECENT_PINGS = 4096;
/**
 * Requests at the same time, beyond which a node is not pinged: one that called, so that a flood of calls in the name of
 * others does not keep out those that look-ups find, and one that was named. The operator's bootnodes always are.
 */
const MAX_PENDING: Readonly<Record<NodeSource, number>> = {
  called: 64,
  named: 128,
  bootnode: Number.POSITIVE_INFINITY,
};
/** Requests to one address at the same time. Local ones are exempt, where whole networks share one. */
const MAX_PENDING_AT_ADDRESS = 8;

/** Whether a node may be pinged now: an address may be a victim's, and a flood names as many as it likes. */
export class PingLimits {
  private readonly clock: Pick<Clock, "nowMs">;
  private readonly requests: Pick<DiscoveryRequests, "pending" | "pendingAt">;
  private readonly onCrowded: () => void;
  /** When nodes were last pinged, by id and address: a wrong address does not keep the right one waiting. */
  private readonly pinged = new Map<string, number>();

  constructor(
    clock: Pick<Clock, "nowMs">,
    requests: Pick<DiscoveryRequests, "pending" | "pendingAt">,
    onCrowded: () => void,
  ) {
    this.clock = clock;
    this.requests = requests;
    this.onCrowded = onCrowded;
  }

  /** Not when it was pinged just now, nor while too many are. */
  mayPing(node: NodeContact, source: NodeSource): boolean {
    const lastMs = this.pinged.get(placeOf(node));
    if (lastMs !== undefined && this.clock.nowMs() < lastMs + REPEAT_PING_MS) return false;
    const isExempt = source === "bootnode" || isLocal(node.ip);
    const isFree = isExempt || this.requests.pendingAt(node.ip) < MAX_PENDING_AT_ADDRESS;
    if (isFree && this.requests.pending < MAX_PENDING[source]) return true;
    this.onCrowded();
    return false;
  }

  notePing(node: NodeContact): void {
    const place = placeOf(node);
    this.pinged.delete(place);
    this.pinged.set(place, this.clock.nowMs());
    dropOldest(this.pinged, MAX_RECENT_PINGS);
  }
}

function placeOf({ nodeId, ip }: NodeContact): string {
  return `${toHex(nodeId)} ${ip}`;
}
