import { toKey } from "../primitives/byteKey.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { MAX_CONCURRENT_DIALS } from "./limits.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";

/** Where a node is dialed. */
export interface NodeAddress {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  readonly host: string;
  readonly tcpPort: number;
  /** UDP port of discovery; 0 when the node takes no part in it, absent when that is unknown. */
  readonly udpPort?: number;
}

/**
 * Where the dialer gets its nodes from, and which of them are due: the maintained peers (maintainedPeers.ts), and those that
 * discovery found (discoveredPeers.ts).
 */
export interface DialCandidates {
  /** When a node is due, at the earliest; undefined when none waits. */
  readonly nextDueMs: number | undefined;
  /** Takes a node that is due, which does not wait from now on; undefined when none is due. */
  take(): NodeAddress | undefined;
  /** A connection to the node is open, whichever end opened it. Called for all nodes. */
  connected(nodeId: Uint8Array): void;
  /** The last connection to the node ended, or the dial failed; `lastedMs` is 0 for a dial. Called for all nodes. */
  disconnected(nodeId: Uint8Array, reason: DisconnectReason, lastedMs: number): void;
}

/** When a candidate is to be dialed. */
export interface DialTime {
  /** False while it is being dialed, or connected. */
  isWaiting: boolean;
  dueMs: number;
}

/** When the first of those that wait is due; undefined when none waits. */
export function earliestDueMs(candidates: Iterable<DialTime>): number | undefined {
  let earliestMs: number | undefined;
  for (const { isWaiting, dueMs } of candidates)
    if (isWaiting && (earliestMs === undefined || dueMs < earliestMs)) earliestMs = dueMs;
  return earliestMs;
}

export interface DialerParts {
  readonly clock: Clock;
  readonly candidates: DialCandidates;
  /** Must lead to `connected` or `disconnected`, possibly before it returns. */
  readonly dial: (node: NodeAddress) => void;
}

/** Dials the candidates that are due, a bounded number at the same time. */
export class Dialer implements Pick<DialCandidates, "connected" | "disconnected"> {
  private readonly parts: DialerParts;
  /** Nodes that are being dialed. */
  private readonly dialing = new Set<string>();
  private timer: Timer | undefined;
  private isStopped = false;

  constructor(parts: DialerParts) {
    this.parts = parts;
  }

  /** To be called when a candidate came or went. */
  reschedule(): void {
    this.timer?.cancel();
    this.timer = undefined;
    const { nextDueMs } = this.parts.candidates;
    if (this.isStopped || nextDueMs === undefined || this.dialing.size >= MAX_CONCURRENT_DIALS) return;
    this.timer = this.parts.clock.at(nextDueMs, () => this.dialDue());
  }

  connected(nodeId: Uint8Array): void {
    this.dialing.delete(toKey(nodeId));
    this.parts.candidates.connected(nodeId);
    this.reschedule();
  }

  disconnected(nodeId: Uint8Array, reason: DisconnectReason, lastedMs: number): void {
    this.dialing.delete(toKey(nodeId));
    this.parts.candidates.disconnected(nodeId, reason, lastedMs);
    this.reschedule();
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  private dialDue(): void {
    while (this.dialing.size < MAX_CONCURRENT_DIALS) {
      const node = this.parts.candidates.take();
      if (node === undefined) break;
      this.dialing.add(toKey(node.nodeId));
      this.parts.dial(node);
    }
    this.reschedule();
  }
}
