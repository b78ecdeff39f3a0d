import type { Logger } from "../observability/logger.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { toDigits } from "../primitives/hex.ts";
import type { NodeAddress } from "./dialer.ts";
import type { Disconnect } from "./rlpx/connection.ts";

/** How long a named node may be away before the operator hears of it, and how long until the next time. */
export const UNREACHABLE_WARNING_MS = 15_000;
export const UNREACHABLE_REMINDER_MS = 10 * 60_000;

/**
 * Tells the operator which of the nodes that they named (bootnodes, static nodes, admin_addPeer) are not connected, and
 * why: a name that is mistyped, a key that was made anew and a chain of another genesis all look the same otherwise, as
 * a node without peers. One warning for each node after 15 s, and again every ten minutes.
 */
export interface UnreachablePeers {
  track(node: NodeAddress): void;
  untrack(nodeId: Uint8Array): void;
  /** The node is connected, and both have introduced themselves. */
  connected(nodeId: Uint8Array): void;
  /** A call failed, or the last connection ended; `isProven` is whether the other end had shown that it has the key. */
  disconnected(nodeId: Uint8Array, disconnect: Disconnect, isProven: boolean): void;
  stop(): void;
}

interface TrackedNode {
  readonly node: NodeAddress;
  /** Undefined while it is connected. */
  unreachableSinceMs: number | undefined;
  explanation: string;
  /** Its last connection ended because it breaks our rules. */
  breaksRules: boolean;
  timer: Timer | undefined;
}

export function createUnreachablePeers({
  clock,
  logger,
}: {
  readonly clock: Clock;
  readonly logger: Logger;
}): UnreachablePeers {
  const tracked = new Map<string, TrackedNode>();

  function markUnreachable(one: TrackedNode, sinceMs: number): void {
    one.unreachableSinceMs = sinceMs;
    one.timer = clock.at(sinceMs + UNREACHABLE_WARNING_MS, () => warn(one));
  }

  function warn(one: TrackedNode): void {
    const { node, unreachableSinceMs, explanation } = one;
    if (unreachableSinceMs === undefined) return;
    const nowMs = clock.nowMs();
    one.timer = clock.at(nowMs + UNREACHABLE_REMINDER_MS, () => warn(one));
    const name = `${node.host}:${node.tcpPort}`;
    const seconds = Math.round((nowMs - unreachableSinceMs) / 1000);
    if ([...tracked.values()].every(({ breaksRules }) => breaksRules))
      logger.warn(
        { nodes: tracked.size },
        "every node named to this one is refused by its rules: the genesis file of this node may be the wrong one",
      );
    logger.warn(
      { enode: `enode://${toDigits(node.nodeId)}@${name}`, seconds },
      `no connection with ${name} for ${seconds} s: ${explanation}`,
    );
  }

  return {
    track(node) {
      const one: TrackedNode = {
        node,
        unreachableSinceMs: undefined,
        explanation: "it has not answered yet",
        breaksRules: false,
        timer: undefined,
      };
      tracked.set(toKey(node.nodeId), one);
      markUnreachable(one, clock.nowMs());
    },
    untrack(nodeId) {
      tracked.get(toKey(nodeId))?.timer?.cancel();
      tracked.delete(toKey(nodeId));
    },
    connected(nodeId) {
      const one = tracked.get(toKey(nodeId));
      if (one === undefined) return;
      one.timer?.cancel();
      one.unreachableSinceMs = undefined;
      one.breaksRules = false;
    },
    disconnected(nodeId, disconnect, isProven) {
      const one = tracked.get(toKey(nodeId));
      if (one === undefined) return;
      one.explanation = explain(disconnect, isProven);
      one.breaksRules =
        disconnect.by === "us" &&
        (disconnect.reason === "subprotocolTriggered" || disconnect.reason === "breachOfProtocol");
      if (one.unreachableSinceMs === undefined) markUnreachable(one, clock.nowMs());
    },
    stop() {
      for (const { timer } of tracked.values()) timer?.cancel();
      tracked.clear();
    },
  };
}

/** For people. Before the other end has proven its key, a line that is closed is how it refuses a call to another key. */
function explain({ reason, by, detail }: Disconnect, isProven: boolean): string {
  if (by === "them") return `it turned this node away (${reason})`;
  if (isProven) return by === "nobody" ? `the line broke (${detail})` : detail;
  if (by === "us" && reason === "timeout") return "it does not answer";
  if (by === "us") return detail;
  if (/ECONNREFUSED/.test(detail)) return "nothing listens there (ECONNREFUSED)";
  if (/\bE(?!CONNRESET|PIPE)[A-Z]{3,}/.test(detail)) return `it cannot be reached (${detail})`;
  return "something listens there, but hangs up before it has shown its key: it may have another key than its enode URL says";
}
