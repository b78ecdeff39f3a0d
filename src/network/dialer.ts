import { toKey } from "../primitives/byteKey.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { FIRST_REDIAL_MS, LONGEST_REDIAL_MS, MAX_CONCURRENT_DIALS, STEADY_CONNECTION_MS } from "./limits.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";

/** A node to stay connected with. */
export interface NodeAddress {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  readonly host: string;
  readonly tcpPort: number;
}

/**
 * Dials the maintained peers, and redials those that are not connected. The delay doubles from 1 s to 30 s, and starts
 * over after a connection that lasted; after a refusal it is the longest at once. Random jitter keeps two nodes that
 * lost each other from dialing at the same moments for ever.
 */
export interface Dialer {
  add(node: NodeAddress): boolean;
  remove(nodeId: Uint8Array): boolean;
  has(nodeId: Uint8Array): boolean;
  /** A connection to the node is open, whichever end opened it: no dials until it ends. */
  connected(nodeId: Uint8Array): void;
  /** The last connection to the node ended, or the dial failed; `lastedMs` is 0 for a dial. */
  disconnected(nodeId: Uint8Array, reason: DisconnectReason, lastedMs: number): void;
  stop(): void;
}

interface Target {
  readonly node: NodeAddress;
  state: "waiting" | "dialing" | "connected";
  waitMs: number;
  dueMs: number;
}

export function createDialer(parts: {
  readonly clock: Clock;
  /** 0 to 1. */
  readonly chance: () => number;
  /** Must lead to `connected` or `disconnected`, possibly before it returns. */
  readonly dial: (node: NodeAddress) => void;
}): Dialer {
  const { clock, chance, dial } = parts;
  const targets = new Map<string, Target>();
  let timer: Timer | undefined;
  let isStopped = false;

  function schedule(): void {
    timer?.cancel();
    timer = undefined;
    const dueMs = Math.min(
      ...[...targets.values()].filter(({ state }) => state === "waiting").map((one) => one.dueMs),
    );
    if (isStopped || dueMs === Number.POSITIVE_INFINITY) return;
    const isBusy = dialsInProgress() >= MAX_CONCURRENT_DIALS;
    if (!isBusy) timer = clock.at(dueMs, dialDue);
  }

  function dialsInProgress(): number {
    return [...targets.values()].filter(({ state }) => state === "dialing").length;
  }

  function dialDue(): void {
    const nowMs = clock.nowMs();
    for (const one of [...targets.values()]) {
      if (one.state !== "waiting" || one.dueMs > nowMs || dialsInProgress() >= MAX_CONCURRENT_DIALS) continue;
      one.state = "dialing";
      dial(one.node);
    }
    schedule();
  }

  return {
    add(node) {
      const key = toKey(node.nodeId);
      if (targets.has(key)) return false;
      targets.set(key, { node, state: "waiting", waitMs: FIRST_REDIAL_MS, dueMs: clock.nowMs() });
      schedule();
      return true;
    },
    remove(nodeId) {
      const isKnown = targets.delete(toKey(nodeId));
      schedule();
      return isKnown;
    },
    has: (nodeId) => targets.has(toKey(nodeId)),
    connected(nodeId) {
      const one = targets.get(toKey(nodeId));
      if (one !== undefined) one.state = "connected";
      schedule();
    },
    disconnected(nodeId, reason, lastedMs) {
      const one = targets.get(toKey(nodeId));
      if (one === undefined) return;
      if (lastedMs >= STEADY_CONNECTION_MS) one.waitMs = FIRST_REDIAL_MS;
      if (SLOW_REDIAL_REASONS.has(reason)) one.waitMs = LONGEST_REDIAL_MS;
      one.state = "waiting";
      one.dueMs = clock.nowMs() + one.waitMs * (0.75 + chance() / 2);
      one.waitMs = Math.min(one.waitMs * 2, LONGEST_REDIAL_MS);
      schedule();
    },
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}

/** An early redial would be refused again. */
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
