import type { Logger } from "../observability/logger.ts";
import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { addressOfPublicKey } from "../primitives/secp256k1.ts";
import type { NodeAddress } from "./dialer.ts";
import type { Connection } from "./rlpx/connection.ts";
import type { Hello } from "./rlpx/hello.ts";
import type { AdmissionErrorCause } from "./traffic.ts";

/** Warns the operator of another node with this node's key: two validators with one key can split the chain. */
export interface SharedKeyWarnings {
  /**
   * A connection was refused: as one with ourselves, which proves that a node has our key, for this node never dials
   * itself; or as another one of a peer that is connected, which may be a second node with that peer's key. Warned of once
   * a minute, for such a node keeps connecting.
   */
  refused(cause: AdmissionErrorCause, refused: Called, known: readonly Called[]): void;
  /** A configured peer has this node's id, but not its address. */
  configured(node: NodeAddress): void;
}

/** A connection, and what its other end said of itself. */
export interface Called {
  readonly connection: Pick<Connection, "remote" | "isInbound">;
  readonly hello: Pick<Hello, "nodeId" | "listenPort">;
}

export function createSharedKeyWarnings(clock: Pick<Clock, "nowMs">, logger: Logger): SharedKeyWarnings {
  /** By the id of the key, bounded because ids are free. */
  const warnedMs = new Map<string, number>();

  function isDue(nodeId: Uint8Array): boolean {
    const key = toKey(nodeId);
    const nowMs = clock.nowMs();
    if (nowMs - (warnedMs.get(key) ?? Number.NEGATIVE_INFINITY) < WARNING_PAUSE_MS) return false;
    warnedMs.delete(key);
    warnedMs.set(key, nowMs);
    dropOldest(warnedMs, KEYS_REMEMBERED);
    return true;
  }

  function warnOfOwnKey({ connection, hello }: Called): void {
    if (!isDue(hello.nodeId)) return;
    logger.warn(
      { ...connection.remote },
      "another node has this node's key: two validators with one key can split the chain; " +
        "stop one of the two, and give it a key of its own (--node-private-key-file)",
    );
  }

  function warnOfPeersKey(second: Called, first: Called): void {
    const [one, other] = [placeOf(first), placeOf(second)];
    if (one === other || !isDue(second.hello.nodeId)) return;
    const address = addressOfPublicKey(second.hello.nodeId);
    logger.warn(
      { address, connected: one, refused: other },
      `two nodes use the key of ${toHex(address)}: the one at ${one} is connected, the one at ${other} is refused. Two ` +
        "validators with one key can split the chain: stop one of the two, unless the node has just moved",
    );
  }

  return {
    refused(cause, refused, known) {
      const [first] = known;
      if (cause === "self") warnOfOwnKey(refused);
      if (cause === "connected" && refused.connection.isInbound && first !== undefined)
        warnOfPeersKey(refused, first);
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

/** Where a node listens. */
function placeOf({ connection: { remote, isInbound }, hello }: Called): string {
  return `${remote.host}:${isInbound ? hello.listenPort : remote.port}`;
}

const KEYS_REMEMBERED = 256;

const WARNING_PAUSE_MS = 60_000;
