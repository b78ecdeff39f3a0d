import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import type { NodeAddress } from "./dialer.ts";
import type { Remote } from "./rlpx/connection.ts";

/** Warns the operator of another node with this node's key: two validators with one key can split the chain. */
export interface SharedKeyWarnings {
  /** A connected peer has proven that it holds the key. Warned of once a minute, for such a node keeps connecting. */
  proven(remote: Remote): void;
  /** A configured peer has this node's id, but not its address. */
  configured(node: NodeAddress): void;
}

export function createSharedKeyWarnings(clock: Pick<Clock, "nowMs">, logger: Logger): SharedKeyWarnings {
  let warnedMs = Number.NEGATIVE_INFINITY;
  return {
    proven(remote) {
      if (clock.nowMs() - warnedMs < WARNING_PAUSE_MS) return;
      warnedMs = clock.nowMs();
      logger.warn(
        { ...remote },
        "another node has this node's key: two validators with one key can split the chain; " +
          "stop one of the two, and give it a key of its own (--node-private-key-file)",
      );
    },
    configured({ host, tcpPort }) {
      logger.warn(
        { host, port: tcpPort },
        "a configured peer has this node's own id, at an address that is not this one's: if another node runs " +
          "there, the two have one key, and two validators with one key can split the chain; give one of them a key of " +
          "its own (--node-private-key-file). If the address is this node's, say so with --p2p-host",
      );
    },
  };
}

const WARNING_PAUSE_MS = 60_000;
