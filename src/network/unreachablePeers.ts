import type { Logger } from "../observability/logger.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { toDigits } from "../primitives/hex.ts";
import type { NodeAddress } from "./dialer.ts";
import type { Disconnect } from "./rlpx/disconnectReason.ts";

/** Time without a connection to a named node until the first warning, and between later warnings. */
export const UNREACHABLE_WARNING_MS = 15_000;
export const UNREACHABLE_REMINDER_MS = 10 * 60_000;

/** A named node without a connection. */
export interface UnreachablePeer {
  readonly node: NodeAddress;
  readonly sinceMs: number;
  /** Why the last connection ended or could not be made, for the operator. */
  readonly explanation: string;
}

interface TrackedNode {
  readonly node: NodeAddress;
  /** Since when the node has been unreachable; undefined while it is connected. */
  unreachableSinceMs: number | undefined;
  explanation: string;
  /** True when this node ended the last connection because the peer broke a protocol rule. */
  breaksRules: boolean;
  timer: Timer | undefined;
}

/**
 * Warns the operator about named nodes (bootnodes, static nodes, admin_addPeer) that are not connected, with the cause:
 * otherwise a mistyped address, a regenerated key and a chain with another genesis all look the same, as a node without
 * peers. Warns once per node after 15 s, and again every ten minutes.
 */
export class UnreachablePeers {
  private readonly parts: {
    readonly clock: Clock;
    readonly logger: Logger;
  };
  private readonly tracked = new Map<string, TrackedNode>();

  constructor(parts: {
    readonly clock: Clock;
    readonly logger: Logger;
  }) {
    this.parts = parts;
  }

  track(node: NodeAddress): void {
    const peer = newlyTracked(node);
    this.tracked.set(toKey(node.nodeId), peer);
    this.markUnreachable(peer, this.parts.clock.nowMs());
  }

  untrack(nodeId: Uint8Array): void {
    this.tracked.get(toKey(nodeId))?.timer?.cancel();
    this.tracked.delete(toKey(nodeId));
  }

  /** Called when the node is connected, and the handshakes of all protocols are complete. */
  connected(nodeId: Uint8Array): void {
    const peer = this.tracked.get(toKey(nodeId));
    if (peer === undefined) return;
    peer.timer?.cancel();
    peer.unreachableSinceMs = undefined;
    peer.breaksRules = false;
  }

  /** Called when a dial failed, or the last connection ended. `isProven` says whether the remote end had proven its key. */
  disconnected(nodeId: Uint8Array, disconnect: Disconnect, isProven: boolean): void {
    const peer = this.tracked.get(toKey(nodeId));
    if (peer === undefined) return;
    peer.explanation = explain(disconnect, isProven);
    peer.breaksRules = isRuleViolation(disconnect);
    if (peer.unreachableSinceMs === undefined) this.markUnreachable(peer, this.parts.clock.nowMs());
  }

  /** Nodes that are not connected now. */
  list(): readonly UnreachablePeer[] {
    return [...this.tracked.values()].flatMap(({ node, unreachableSinceMs: sinceMs, explanation }) =>
      sinceMs === undefined ? [] : [{ node, sinceMs, explanation }],
    );
  }

  stop(): void {
    for (const { timer } of this.tracked.values()) timer?.cancel();
    this.tracked.clear();
  }

  private markUnreachable(peer: TrackedNode, sinceMs: number): void {
    peer.unreachableSinceMs = sinceMs;
    peer.timer = this.parts.clock.at(sinceMs + UNREACHABLE_WARNING_MS, () => this.warn(peer));
  }

  private warn(peer: TrackedNode): void {
    const { node, unreachableSinceMs, explanation } = peer;
    if (unreachableSinceMs === undefined) return;
    const nowMs = this.parts.clock.nowMs();
    peer.timer = this.parts.clock.at(nowMs + UNREACHABLE_REMINDER_MS, () => this.warn(peer));
    if ([...this.tracked.values()].every(({ breaksRules }) => breaksRules))
      this.parts.logger.warn(
        { nodes: this.tracked.size },
        "this node refuses every configured peer, because they follow other rules: its genesis file may be the wrong one. The peers are unaffected",
      );
    warnOfNode(this.parts.logger, node, { unreachableMs: nowMs - unreachableSinceMs, explanation });
  }
}

function newlyTracked(node: NodeAddress): TrackedNode {
  return {
    node,
    unreachableSinceMs: undefined,
    explanation: "it has not answered yet",
    breaksRules: false,
    timer: undefined,
  };
}

function warnOfNode(
  logger: Logger,
  { nodeId, host, tcpPort }: NodeAddress,
  { unreachableMs, explanation }: { readonly unreachableMs: number; readonly explanation: string },
): void {
  const seconds = Math.round(unreachableMs / 1000);
  logger.warn(
    { enode: `enode://${toDigits(nodeId)}@${host}:${tcpPort}`, seconds },
    `no connection to ${host}:${tcpPort} for ${seconds} s: ${explanation}`,
  );
}

function isRuleViolation({ reason, by }: Disconnect): boolean {
  return by === "us" && (reason === "subprotocolTriggered" || reason === "breachOfProtocol");
}

/**
 * Explanation for the operator. Before the remote end has proven its key, a closed connection is how it refuses a dial to
 * another key.
 */
function explain({ reason, by, detail }: Disconnect, isProven: boolean): string {
  if (by === "them" && reason === "alreadyConnected") return ALREADY_CONNECTED;
  if (by === "them") return `it refused this node (${reason})`;
  if (isProven) return by === "nobody" ? `the connection was lost (${detail})` : detail;
  if (by === "us" && reason === "timeout") return "it does not answer";
  if (by === "us") return detail;
  if (/ECONNREFUSED/.test(detail)) return "nothing listens there (ECONNREFUSED)";
  if (/\bE(?!CONNRESET|PIPE)[A-Z]{3,}/.test(detail)) return `it cannot be reached (${detail})`;
  return "something listens there, but closes the connection before it has proven its key: its key may differ from the one in its enode URL";
}

const ALREADY_CONNECTED =
  "it refused this node (alreadyConnected), because it still holds an earlier connection of a node with this key; it is " +
  "called again";
