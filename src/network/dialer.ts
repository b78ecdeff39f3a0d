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
  /** Of discovery; 0 when the node takes no part in it, absent when that is unknown. */
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

/** Dials the candidates that are due, a bounded number at the same time. */
export interface Dialer extends Pick<DialCandidates, "connected" | "disconnected"> {
  /** To be called when a candidate came or went. */
  reschedule(): void;
  stop(): void;
}

export function createDialer(parts: {
  readonly clock: Clock;
  readonly candidates: DialCandidates;
  /** Must lead to `connected` or `disconnected`, possibly before it returns. */
  readonly dial: (node: NodeAddress) => void;
}): Dialer {
  const { clock, candidates, dial } = parts;
  /** Nodes that are being dialed. */
  const dialing = new Set<string>();
  let timer: Timer | undefined;
  let isStopped = false;

  function reschedule(): void {
    timer?.cancel();
    timer = undefined;
    const { nextDueMs } = candidates;
    if (isStopped || nextDueMs === undefined || dialing.size >= MAX_CONCURRENT_DIALS) return;
    timer = clock.at(nextDueMs, dialDue);
  }

  function dialDue(): void {
    while (dialing.size < MAX_CONCURRENT_DIALS) {
      const node = candidates.take();
      if (node === undefined) break;
      dialing.add(toKey(node.nodeId));
      dial(node);
    }
    reschedule();
  }

  return {
    reschedule,
    connected(nodeId) {
      dialing.delete(toKey(nodeId));
      candidates.connected(nodeId);
      reschedule();
    },
    disconnected(nodeId, reason, lastedMs) {
      dialing.delete(toKey(nodeId));
      candidates.disconnected(nodeId, reason, lastedMs);
      reschedule();
    },
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}
