import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock } from "../primitives/clock.ts";
import { type DialCandidates, type DialTime, earliestDueMs, type NodeAddress } from "./dialer.ts";
import {
  LONGEST_DISCOVERED_REDIAL_MS,
  MAX_DISCOVERED_FAILURES,
  MAX_DISCOVERED_PEERS,
  SHORTEST_DISCOVERED_REDIAL_MS,
  STEADY_CONNECTION_MS,
} from "./limits.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";

/**
 * The nodes that discovery found (p2p.md#connection-policy): they are dialed once they are known, and again while there
 * is room for more peers, at most every 30 s, and less often the more dials failed. A node that was dialed eight times in
 * vain, an hour, is forgotten until discovery finds that it still answers there.
 */
export interface DiscoveredPeers extends DialCandidates {
  /** A node has been found, or has another address. */
  offer(node: NodeAddress): void;
}

interface Candidate extends DialTime {
  node: NodeAddress;
  waitMs: number;
  /** Dials in a row that failed. */
  failures: number;
}

export interface DiscoveredPeersParts {
  readonly clock: Pick<Clock, "nowMs">;
  /** 0 to 1. */
  readonly chance: () => number;
  /** Whether another peer may be connected. */
  readonly hasRoom: () => boolean;
  /** Whether the node is dialed anyway, or is connected. */
  readonly isKnown: (nodeId: Uint8Array) => boolean;
  /** Whether the operator's lists still permit it. */
  readonly isPermitted: (node: NodeAddress) => boolean;
}

export function createDiscoveredPeers(parts: DiscoveredPeersParts): DiscoveredPeers {
  return new FoundNodes(parts);
}

class FoundNodes implements DiscoveredPeers {
  private readonly parts: DiscoveredPeersParts;
  private readonly candidates = new Map<string, Candidate>();

  constructor(parts: DiscoveredPeersParts) {
    this.parts = parts;
  }

  get nextDueMs(): number | undefined {
    if (!this.parts.hasRoom()) return undefined;
    return earliestDueMs(this.candidates.values());
  }

  take(): NodeAddress | undefined {
    const { clock, hasRoom, isKnown, isPermitted } = this.parts;
    if (!hasRoom()) return undefined;
    const nowMs = clock.nowMs();
    for (const one of this.candidates.values()) {
      if (!one.isWaiting || one.dueMs > nowMs) continue;
      if (isKnown(one.node.nodeId) || !isPermitted(one.node)) {
        one.dueMs = nowMs + LONGEST_DISCOVERED_REDIAL_MS;
        continue;
      }
      one.isWaiting = false;
      return one.node;
    }
    return undefined;
  }

  offer(node: NodeAddress): void {
    const known = this.candidates.get(toKey(node.nodeId));
    if (known !== undefined) {
      known.node = node;
      return;
    }
    this.candidates.set(toKey(node.nodeId), {
      node,
      isWaiting: true,
      waitMs: SHORTEST_DISCOVERED_REDIAL_MS,
      dueMs: this.parts.clock.nowMs(),
      failures: 0,
    });
    dropOldest(this.candidates, MAX_DISCOVERED_PEERS);
  }

  connected(nodeId: Uint8Array): void {
    const one = this.candidates.get(toKey(nodeId));
    if (one !== undefined) one.isWaiting = false;
  }

  disconnected(nodeId: Uint8Array, _reason: DisconnectReason, lastedMs: number): void {
    const { clock, chance } = this.parts;
    const one = this.candidates.get(toKey(nodeId));
    if (one === undefined) return;
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

/** Several sources of nodes to dial, the first before the others. */
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
  };
}
