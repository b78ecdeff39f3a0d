import type { Logger } from "../observability/logger.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { toDigits } from "../primitives/hex.ts";
import type { NodeAddress } from "./dialer.ts";
import type { Disconnect } from "./rlpx/connection.ts";

/** How long a named node may be away before the operator hears of it, and how long until the next time. */
export const ABSENT_AFTER_MS = 15_000;
export const ABSENT_AGAIN_MS = 10 * 60_000;

/**
 * Tells the operator which of the nodes that they named (bootnodes, static nodes, admin_addPeer) are not connected, and
 * why: a name that is mistyped, a key that was made anew and a chain of another genesis all look the same otherwise, as
 * a node without peers. One warning for each node after 15 s, and again every ten minutes.
 */
export interface Absentees {
  expect(node: NodeAddress): void;
  forget(nodeId: Uint8Array): void;
  /** The node is connected, and both have introduced themselves. */
  present(nodeId: Uint8Array): void;
  /** A call failed, or the last connection ended; `isProven` is whether the other end had shown that it has the key. */
  absent(nodeId: Uint8Array, disconnect: Disconnect, isProven: boolean): void;
  stop(): void;
}

interface Expected {
  readonly node: NodeAddress;
  /** Undefined while it is connected. */
  absentSinceMs: number | undefined;
  why: string;
  /** Its last connection ended because it breaks our rules. */
  breaksRules: boolean;
  timer: Timer | undefined;
}

export function createAbsentees({
  clock,
  logger,
}: {
  readonly clock: Clock;
  readonly logger: Logger;
}): Absentees {
  const expected = new Map<string, Expected>();

  function missedSince(one: Expected, sinceMs: number): void {
    one.absentSinceMs = sinceMs;
    one.timer = clock.at(sinceMs + ABSENT_AFTER_MS, () => tell(one));
  }

  function tell(one: Expected): void {
    const { node, absentSinceMs, why } = one;
    if (absentSinceMs === undefined) return;
    const nowMs = clock.nowMs();
    one.timer = clock.at(nowMs + ABSENT_AGAIN_MS, () => tell(one));
    const name = `${node.host}:${node.tcpPort}`;
    const seconds = Math.round((nowMs - absentSinceMs) / 1000);
    if ([...expected.values()].every(({ breaksRules }) => breaksRules))
      logger.warn(
        { nodes: expected.size },
        "every node named to this one is refused by its rules: the genesis file of this node may be the wrong one",
      );
    logger.warn(
      { enode: `enode://${toDigits(node.nodeId)}@${name}`, seconds },
      `no connection with ${name} for ${seconds} s: ${why}`,
    );
  }

  return {
    expect(node) {
      const one: Expected = {
        node,
        absentSinceMs: undefined,
        why: "it has not answered yet",
        breaksRules: false,
        timer: undefined,
      };
      expected.set(toKey(node.nodeId), one);
      missedSince(one, clock.nowMs());
    },
    forget(nodeId) {
      expected.get(toKey(nodeId))?.timer?.cancel();
      expected.delete(toKey(nodeId));
    },
    present(nodeId) {
      const one = expected.get(toKey(nodeId));
      if (one === undefined) return;
      one.timer?.cancel();
      one.absentSinceMs = undefined;
      one.breaksRules = false;
    },
    absent(nodeId, disconnect, isProven) {
      const one = expected.get(toKey(nodeId));
      if (one === undefined) return;
      one.why = whyOf(disconnect, isProven);
      one.breaksRules =
        disconnect.by === "us" &&
        (disconnect.reason === "subprotocolTriggered" || disconnect.reason === "breachOfProtocol");
      if (one.absentSinceMs === undefined) missedSince(one, clock.nowMs());
    },
    stop() {
      for (const { timer } of expected.values()) timer?.cancel();
      expected.clear();
    },
  };
}

/** For people. Before the other end has proven its key, a line that is closed is how it refuses a call to another key. */
function whyOf({ reason, by, detail }: Disconnect, isProven: boolean): string {
  if (by === "them") return `it turned this node away (${reason})`;
  if (isProven) return by === "nobody" ? `the line broke (${detail})` : detail;
  if (by === "us" && reason === "timeout") return "it does not answer";
  if (by === "us") return detail;
  if (/ECONNREFUSED/.test(detail)) return "nothing listens there (ECONNREFUSED)";
  if (/\bE(?!CONNRESET|PIPE)[A-Z]{3,}/.test(detail)) return `it cannot be reached (${detail})`;
  return "something listens there, but hangs up before it has shown its key: it may have another key than its enode URL says";
}
