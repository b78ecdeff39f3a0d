import { toKey } from "../primitives/byteKey.ts";
import type { Clock } from "../primitives/clock.ts";
import { type DialCandidates, type DialTime, earliestDueMs, judgeAgain, type NodeAddress } from "./dialer.ts";
import { FIRST_REDIAL_MS, LONGEST_REDIAL_MS, STEADY_CONNECTION_MS } from "./limits.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";

interface Target extends DialTime {
  readonly node: NodeAddress;
  waitMs: number;
}

interface MaintainedPeersParts {
  readonly clock: Pick<Clock, "nowMs">;
  /** Random number from 0 to 1. */
  readonly chance: () => number;
  /** Whether the node may be dialed; it is judged again in the next review, or after 30 s, where it may not. */
  readonly isPermitted: (node: NodeAddress) => boolean;
  /** Called when a node was not dialed because it is not permitted. */
  readonly onDenied: (nodeId: Uint8Array) => void;
}

/**
 * The nodes with which the operator wants to stay connected: they are dialed at once, and redialed whenever they are not
 * connected. The delay doubles from 1 s to 30 s, and starts over after a connection that lasted; after a refusal it is the
 * longest at once. Random jitter keeps two nodes that lost each other from dialing at the same moments for ever.
 */
export class MaintainedPeers implements DialCandidates {
  private readonly parts: MaintainedPeersParts;
  private readonly targets = new Map<string, Target>();

  constructor(parts: MaintainedPeersParts) {
    this.parts = parts;
  }

  get nextDueMs(): number | undefined {
    return earliestDueMs(this.targets.values());
  }

  take(): NodeAddress | undefined {
    const { clock, isPermitted, onDenied } = this.parts;
    const nowMs = clock.nowMs();
    for (const one of this.targets.values()) {
      if (!one.isWaiting || one.dueMs > nowMs) continue;
      if (!isPermitted(one.node)) {
        one.isDenied = true;
        one.dueMs = nowMs + LONGEST_REDIAL_MS;
        onDenied(one.node.nodeId);
        continue;
      }
      one.isWaiting = false;
      return one.node;
    }
    return undefined;
  }

  /** Adds a node; false when it is already known. */
  add(node: NodeAddress): boolean {
    const key = toKey(node.nodeId);
    if (this.targets.has(key)) return false;
    this.targets.set(key, {
      node,
      isWaiting: true,
      waitMs: FIRST_REDIAL_MS,
      dueMs: this.parts.clock.nowMs(),
      isDenied: false,
    });
    return true;
  }

  /** Removes a node; false when it is not known. */
  remove(nodeId: Uint8Array): boolean {
    return this.targets.delete(toKey(nodeId));
  }

  has(nodeId: Uint8Array): boolean {
    return this.targets.has(toKey(nodeId));
  }

  addressOf(nodeId: Uint8Array): NodeAddress | undefined {
    return this.targets.get(toKey(nodeId))?.node;
  }

  connected(nodeId: Uint8Array): void {
    const one = this.targets.get(toKey(nodeId));
    if (one === undefined) return;
    one.isWaiting = false;
    one.isDenied = false;
  }

  disconnected(nodeId: Uint8Array, reason: DisconnectReason, lastedMs: number): void {
    const one = this.targets.get(toKey(nodeId));
    if (one === undefined) return;
    if (lastedMs >= STEADY_CONNECTION_MS) one.waitMs = FIRST_REDIAL_MS;
    if (SLOW_REDIAL_REASONS.has(reason)) one.waitMs = LONGEST_REDIAL_MS;
    one.isWaiting = true;
    one.dueMs = this.parts.clock.nowMs() + one.waitMs * (0.75 + this.parts.chance() / 2);
    one.waitMs = Math.min(one.waitMs * 2, LONGEST_REDIAL_MS);
  }

  denied(nodeId: Uint8Array): void {
    const one = this.targets.get(toKey(nodeId));
    if (one !== undefined) one.isDenied = true;
  }

  review(): void {
    judgeAgain(this.targets.values(), this.parts.clock.nowMs());
  }
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
