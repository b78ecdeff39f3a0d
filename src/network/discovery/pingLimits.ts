import { dropOldest } from "../../primitives/boundedCache.ts";
import type { Clock } from "../../primitives/clock.ts";
import { toHex } from "../../primitives/hex.ts";
import { isLocal } from "./endpoint.ts";
import type { NodeContact } from "./packets.ts";
import type { DiscoveryRequests } from "./requests.ts";

/** Who introduced a node that is to be pinged: the node itself, another node or a list, or the operator. */
export type NodeSource = "called" | "named" | "bootnode";

/** Shortest time before a node that has not answered is pinged again. The operator's bootnodes may be starting, too. */
const REPEAT_PING_MS: Readonly<Record<NodeSource, number>> = {
  called: 10_000,
  named: 10_000,
  bootnode: 1000,
};
const MAX_RECENT_PINGS = 4096;
/**
 * Most pending requests with which a node is still pinged: one that called itself, so that a flood of calls in the name of
 * others does not keep out nodes found by lookups, and one that was named. The operator's bootnodes are always pinged.
 */
const MAX_PENDING: Readonly<Record<NodeSource, number>> = {
  called: 64,
  named: 128,
  bootnode: Number.POSITIVE_INFINITY,
};
/** Most pending requests to one address. Local addresses are exempt, because whole networks may share one. */
const MAX_PENDING_AT_ADDRESS = 8;

/** Decides whether a node may be pinged now: an address may be a victim's, and a flood names as many as it likes. */
export class PingLimits {
  private readonly clock: Pick<Clock, "nowMs">;
  private readonly requests: Pick<DiscoveryRequests, "pending" | "pendingAt">;
  private readonly onCrowded: () => void;
  /** When nodes were last pinged, by id and address, so that a wrong address does not delay the right one. */
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

  /** False when the node was pinged just now, or too many pings are pending. */
  mayPing(node: NodeContact, source: NodeSource): boolean {
    const lastMs = this.pinged.get(placeOf(node));
    if (lastMs !== undefined && this.clock.nowMs() < lastMs + REPEAT_PING_MS[source]) return false;
    const isExempt = source === "bootnode" || isLocal(node.ip);
    const isFree = isExempt || this.requests.pendingAt(node.ip) < MAX_PENDING_AT_ADDRESS;
    if (isFree && this.requests.pending < MAX_PENDING[source]) return true;
    this.onCrowded();
    return false;
  }

  /** Permits another ping: the node may not have answered the last one because of rules that have changed. */
  forget(node: NodeContact): void {
    this.pinged.delete(placeOf(node));
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
