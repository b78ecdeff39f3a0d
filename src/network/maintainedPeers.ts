import { toKey } from "../primitives/byteKey.ts";
import type { Clock } from "../primitives/clock.ts";
import { type DialCandidates, type DialTime, earliestDueMs, type NodeAddress } from "./dialer.ts";
import { FIRST_REDIAL_MS, LONGEST_REDIAL_MS, STEADY_CONNECTION_MS } from "./limits.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";

/**
 * The nodes with which the operator wants to stay connected: they are dialed at once, and redialed whenever they are not
 * connected. The delay doubles from 1 s to 30 s, and starts over after a connection that lasted; after a refusal it is the
 * longest at once. Random jitter keeps two nodes that lost each other from dialing at the same moments for ever.
 */
export interface MaintainedPeers extends DialCandidates {
  /** Adds a node; false when it is already known. */
  add(node: NodeAddress): boolean;
  /** Removes a node; false when it is not known. */
  remove(nodeId: Uint8Array): boolean;
  has(nodeId: Uint8Array): boolean;
  addressOf(nodeId: Uint8Array): NodeAddress | undefined;
}

interface Target extends DialTime {
  readonly node: NodeAddress;
  waitMs: number;
}

export function createMaintainedPeers(parts: {
  readonly clock: Pick<Clock, "nowMs">;
  /** Random number from 0 to 1. */
  readonly chance: () => number;
}): MaintainedPeers {
  const { clock, chance } = parts;
  const targets = new Map<string, Target>();

  return {
    get nextDueMs() {
      return earliestDueMs(targets.values());
    },
    take() {
      const nowMs = clock.nowMs();
      for (const one of targets.values()) {
        if (!one.isWaiting || one.dueMs > nowMs) continue;
        one.isWaiting = false;
        return one.node;
      }
      return undefined;
    },
    add(node) {
      const key = toKey(node.nodeId);
      if (targets.has(key)) return false;
      targets.set(key, { node, isWaiting: true, waitMs: FIRST_REDIAL_MS, dueMs: clock.nowMs() });
      return true;
    },
    remove: (nodeId) => targets.delete(toKey(nodeId)),
    has: (nodeId) => targets.has(toKey(nodeId)),
    addressOf: (nodeId) => targets.get(toKey(nodeId))?.node,
    connected(nodeId) {
      const one = targets.get(toKey(nodeId));
      if (one !== undefined) one.isWaiting = false;
    },
    disconnected(nodeId, reason, lastedMs) {
      const one = targets.get(toKey(nodeId));
      if (one === undefined) return;
      if (lastedMs >= STEADY_CONNECTION_MS) one.waitMs = FIRST_REDIAL_MS;
      if (SLOW_REDIAL_REASONS.has(reason)) one.waitMs = LONGEST_REDIAL_MS;
      one.isWaiting = true;
      one.dueMs = clock.nowMs() + one.waitMs * (0.75 + chance() / 2);
      one.waitMs = Math.min(one.waitMs * 2, LONGEST_REDIAL_MS);
    },
  };
}

/** Disconnect reasons after which an early redial would be refused again. */
const SLOW_REDIAL_REASONS: ReadonlySet<DisconnectReason> = new Set<DisconnectReason>([
  "breachOfProtocol",
  "uselessPeer",
  "tooManyPeers",
  "incompatibleVersion",
  "nullIdentity",
  "unexpectedIdentity",
  "self",
  "subprotocolTriggered",
]);
