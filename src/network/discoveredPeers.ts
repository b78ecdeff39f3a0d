import { isIP } from "node:net";
import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock } from "../primitives/clock.ts";
import { type DialCandidates, type DialTime, earliestDueMs, judgeAgain, type NodeAddress } from "./dialer.ts";
import { isLocal, subnetOf } from "./discovery/endpoint.ts";
import {
  LONGEST_DISCOVERED_REDIAL_MS,
  MAX_DISCOVERED_FAILURES,
  MAX_DISCOVERED_IN_SUBNET,
  MAX_DISCOVERED_PEERS,
  PROVEN_CONNECTION_MS,
  PROVEN_PLACES_SHARE,
  SHORTEST_DISCOVERED_REDIAL_MS,
  STEADY_CONNECTION_MS,
} from "./limits.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";

interface Candidate extends DialTime {
  node: NodeAddress;
  /** Subnet of the node's address; undefined for a local one. It is stored, because each dial reads it for all candidates. */
  publicSubnet: string | undefined;
  waitMs: number;
  /** Number of consecutive failed dials. */
  failures: number;
  isProven: boolean;
  /** When it connected; undefined while it is not connected. */
  connectedMs: number | undefined;
}

interface DiscoveredPeersParts {
  readonly clock: Pick<Clock, "nowMs">;
  /** Random number from 0 to 1. */
  readonly chance: () => number;
  /** Number of further peers that may be connected. */
  readonly room: () => number;
  readonly maxPeers: number;
  /** Ids of nodes whose connections lasted in earlier runs. */
  readonly provenIds: readonly Uint8Array[];
  /** Whether the node is dialed by another source, or is connected. */
  readonly isKnown: (nodeId: Uint8Array) => boolean;
  /** Whether it may be dialed; it is judged again in the next review, or after ten minutes, where it may not. */
  readonly isPermitted: (node: NodeAddress) => boolean;
}

/**
 * The nodes that discovery found (p2p.md#connection-policy): they are dialed once they are known, and again while there is
 * room for more peers, at most every 30 s, and less often after failed dials. After eight failed dials, about an hour, a
 * node is forgotten until discovery finds that it still answers there.
 *
 * Anyone can run many nodes, so only a few in one public subnet are dialed, and places are kept for nodes whose connections
 * have lasted before, as long as these may come back.
 */
export class DiscoveredPeers implements DialCandidates {
  private readonly parts: DiscoveredPeersParts;
  private readonly candidates = new Map<string, Candidate>();
  private readonly provenBefore: ReadonlySet<string>;

  constructor(parts: DiscoveredPeersParts) {
    this.parts = parts;
    this.provenBefore = new Set(parts.provenIds.map(toKey));
  }

  get nextDueMs(): number | undefined {
    return earliestDueMs(this.eligible());
  }

  take(): NodeAddress | undefined {
    const { clock, isKnown, isPermitted } = this.parts;
    const nowMs = clock.nowMs();
    const due = this.eligible().filter(({ isWaiting, dueMs }) => isWaiting && dueMs <= nowMs);
    const subnets = this.takenPerSubnet();
    for (const one of [...due.filter(isProven), ...due.filter((other) => !isProven(other))]) {
      const isConnected = isKnown(one.node.nodeId);
      if (isConnected || !isPermitted(one.node)) {
        one.isDenied = !isConnected;
        one.dueMs = nowMs + LONGEST_DISCOVERED_REDIAL_MS;
        continue;
      }
      if ((subnets.get(one.publicSubnet) ?? 0) >= MAX_DISCOVERED_IN_SUBNET) {
        one.dueMs = nowMs + SHORTEST_DISCOVERED_REDIAL_MS;
        continue;
      }
      one.isWaiting = false;
      return one.node;
    }
    return undefined;
  }

  addressOf(nodeId: Uint8Array): NodeAddress | undefined {
    return this.candidates.get(toKey(nodeId))?.node;
  }

  /** Whether a connection with the node has lasted, in this run or an earlier one. */
  isProven(nodeId: Uint8Array): boolean {
    const one = this.candidates.get(toKey(nodeId));
    if (one?.isProven === true) return true;
    return (
      one?.connectedMs !== undefined && this.parts.clock.nowMs() - one.connectedMs >= PROVEN_CONNECTION_MS
    );
  }

  /** Candidates that there is room for: the last places are kept for proven nodes. */
  private eligible(): readonly Candidate[] {
    const all = [...this.candidates.values()];
    const { room, maxPeers, isKnown } = this.parts;
    const awaited = all.filter((one) => one.isProven && !isKnown(one.node.nodeId)).length;
    const kept = Math.min(awaited, Math.floor(maxPeers * PROVEN_PLACES_SHARE));
    const free = room();
    if (free > kept) return all;
    return free > 0 ? all.filter(isProven) : [];
  }

  /** Nodes that are dialed or connected, by public subnet. */
  private takenPerSubnet(): ReadonlyMap<string | undefined, number> {
    const taken = new Map<string | undefined, number>();
    for (const { publicSubnet, isWaiting } of this.candidates.values())
      if (!isWaiting && publicSubnet !== undefined)
        taken.set(publicSubnet, (taken.get(publicSubnet) ?? 0) + 1);
    return taken;
  }

  /** Adds a node that has been found, or has another address. */
  offer(node: NodeAddress): void {
    const known = this.candidates.get(toKey(node.nodeId));
    if (known !== undefined) {
      known.node = node;
      known.publicSubnet = publicSubnetOf(node);
      return;
    }
    this.candidates.set(toKey(node.nodeId), {
      node,
      publicSubnet: publicSubnetOf(node),
      isWaiting: true,
      waitMs: SHORTEST_DISCOVERED_REDIAL_MS,
      dueMs: this.parts.clock.nowMs(),
      isDenied: false,
      failures: 0,
      isProven: this.provenBefore.has(toKey(node.nodeId)),
      connectedMs: this.parts.isKnown(node.nodeId) ? this.parts.clock.nowMs() : undefined,
    });
    dropOldest(this.candidates, MAX_DISCOVERED_PEERS);
  }

  connected(nodeId: Uint8Array): void {
    const one = this.candidates.get(toKey(nodeId));
    if (one === undefined) return;
    one.isWaiting = false;
    one.isDenied = false;
    one.connectedMs ??= this.parts.clock.nowMs();
  }

  denied(nodeId: Uint8Array): void {
    const one = this.candidates.get(toKey(nodeId));
    if (one !== undefined) one.isDenied = true;
  }

  review(): void {
    judgeAgain(this.candidates.values(), this.parts.clock.nowMs());
  }

  disconnected(nodeId: Uint8Array, _reason: DisconnectReason, lastedMs: number): void {
    const { clock, chance } = this.parts;
    const one = this.candidates.get(toKey(nodeId));
    if (one === undefined) return;
    one.connectedMs = undefined;
    if (lastedMs >= PROVEN_CONNECTION_MS) one.isProven = true;
    one.failures = lastedMs > 0 ? 0 : one.failures + 1;
    if (one.failures >= MAX_DISCOVERED_FAILURES) {
      this.candidates.delete(toKey(nodeId));
      return;
    }
    if (lastedMs >= STEADY_CONNECTION_MS) one.waitMs = SHORTEST_DISCOVERED_REDIAL_MS;
    one.isWaiting = true;
    one.dueMs = clock.nowMs() + one.waitMs * (1 + chance() / 2);
    one.waitMs = Math.min(one.waitMs * 2, LONGEST_DISCOVERED_REDIAL_MS);
  }
}

function isProven(candidate: Candidate): boolean {
  return candidate.isProven;
}

/** The public subnet of a node; undefined for a local address, which a whole network may share. */
function publicSubnetOf({ host }: NodeAddress): string | undefined {
  return isIP(host) === 0 || isLocal(host) ? undefined : subnetOf(host);
}

/** Joins several sources of nodes to dial, the first before the others. */
export function joinCandidates(sources: readonly DialCandidates[]): DialCandidates {
  return {
    get nextDueMs() {
      const due = sources.flatMap(({ nextDueMs }) => (nextDueMs === undefined ? [] : [nextDueMs]));
      return due.length === 0 ? undefined : Math.min(...due);
    },
    take() {
      for (const source of sources) {
        const node = source.take();
        if (node !== undefined) return node;
      }
      return undefined;
    },
    connected(nodeId) {
      for (const source of sources) source.connected(nodeId);
    },
    disconnected(nodeId, reason, lastedMs) {
      for (const source of sources) source.disconnected(nodeId, reason, lastedMs);
    },
    denied(nodeId) {
      for (const source of sources) source.denied(nodeId);
    },
    review() {
      for (const source of sources) source.review();
    },
  };
}
