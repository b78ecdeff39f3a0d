import { toKey } from "../primitives/byteKey.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { MAX_CONCURRENT_DIALS } from "./limits.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";

/** Who opens a connection: the other node, or this one. */
export type Opener = "inbound" | "outbound";

/** The address at which a node is dialed. */
export interface NodeAddress {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  readonly host: string;
  readonly tcpPort: number;
  /** UDP port of discovery; 0 when the node does not take part in it, absent when unknown. */
  readonly udpPort?: number;
}

/**
 * A source of nodes for the dialer, which knows when they are due: the maintained peers (maintainedPeers.ts), or those that
 * discovery found (discoveredPeers.ts).
 */
export interface DialCandidates {
  /** When the next node is due; undefined when none waits. */
  readonly nextDueMs: number | undefined;
  /** Takes a due node, which no longer waits then; undefined when none is due. */
  take(): NodeAddress | undefined;
  /** Called when a connection to any node is open, whichever end opened it. */
  connected(nodeId: Uint8Array): void;
  /** Called when the last connection to any node ended, or a dial failed; `lastedMs` is 0 for a dial. */
  disconnected(nodeId: Uint8Array, reason: DisconnectReason, lastedMs: number): void;
  /** Called when a connection with any node was refused or ended by this one because it is not permitted. */
  denied(nodeId: Uint8Array): void;
  /** Makes denied nodes due, which are then judged again. Called when the rules of connections may have changed. */
  review(): void;
}

/** When a candidate should be dialed. */
export interface DialTime {
  /** False while it is being dialed, or connected. */
  isWaiting: boolean;
  dueMs: number;
  /** Whether it was not permitted when it was judged last, or the answer was awaited. */
  isDenied: boolean;
}

/** Most denied candidates that are judged in one review, because each may cost a question to a contract. */
const JUDGED_IN_REVIEW = 16;

/** Makes denied candidates due, those first that were judged longest ago. */
export function judgeAgain(candidates: Iterable<DialTime>, nowMs: number): void {
  const denied = [...candidates].filter(({ isWaiting, isDenied }) => isWaiting && isDenied);
  for (const one of denied.toSorted((a, b) => a.dueMs - b.dueMs).slice(0, JUDGED_IN_REVIEW)) {
    one.isDenied = false;
    one.dueMs = nowMs;
  }
}

/** When the first waiting candidate is due; undefined when none waits. */
export function earliestDueMs(candidates: Iterable<DialTime>): number | undefined {
  let earliestMs: number | undefined;
  for (const { isWaiting, dueMs } of candidates)
    if (isWaiting && (earliestMs === undefined || dueMs < earliestMs)) earliestMs = dueMs;
  return earliestMs;
}

interface DialerParts {
  readonly clock: Clock;
  readonly candidates: DialCandidates;
  /** Dials a node; must lead to `connected` or `disconnected`, possibly before it returns. */
  readonly dial: (node: NodeAddress) => void;
}

/** Dials the candidates that are due, a bounded number at the same time. */
export class Dialer implements Pick<DialCandidates, "connected" | "disconnected" | "denied" | "review"> {
  private readonly parts: DialerParts;
  /** Nodes that are being dialed. */
  private readonly dialing = new Set<string>();
  private timer: Timer | undefined;
  private isStopped = false;

  constructor(parts: DialerParts) {
    this.parts = parts;
  }

  /** Must be called when a candidate was added or removed. */
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

  denied(nodeId: Uint8Array): void {
    this.parts.candidates.denied(nodeId);
  }

  review(): void {
    this.parts.candidates.review();
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
