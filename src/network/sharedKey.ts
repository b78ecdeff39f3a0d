import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { addressOfPublicKey } from "../primitives/secp256k1.ts";
import { AlreadyConnectedRefusals, type RefusingPeer } from "./alreadyConnectedRefusals.ts";
import type { NodeAddress } from "./dialer.ts";
import type { Connection } from "./rlpx/connection.ts";
import type { Hello } from "./rlpx/hello.ts";

/** Called for each sign of two nodes with the key of this address. Without a proof it may be one node that has moved. */
export type OnSharedKey = (address: Address, sign: { readonly isProven: boolean }) => void;

/** A connection, and the Hello of its other end. */
export interface Called {
  readonly connection: Pick<Connection, "remote" | "isInbound">;
  readonly hello: Pick<Hello, "nodeId" | "listenPort">;
}

interface SharedKeyParts {
  /** This node's own Hello fields. */
  readonly own: Pick<Hello, "nodeId" | "clientId">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  /** Whether a node is a validator, or named by the operator: anybody else could refuse this node for no reason. */
  readonly isTrusted: (nodeId: Uint8Array) => boolean;
  readonly onSharedKey?: OnSharedKey | undefined;
}

/** Warns the operator of two nodes with one key, this node's or a peer's: two validators with one key can split the chain. */
export class SharedKeyWarnings {
  private readonly parts: SharedKeyParts;
  private readonly refusals: AlreadyConnectedRefusals;
  /** Time of the last warning by the key's id, bounded because ids are free. */
  private readonly warnedMs = new Map<string, number>();
  private refusalReportedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: SharedKeyParts) {
    this.parts = parts;
    this.refusals = new AlreadyConnectedRefusals(parts.own.clientId, parts.clock);
  }

  /** Notes that the last connection with a peer has ended without a Disconnect from it. */
  lost(nodeId: Uint8Array): void {
    this.refusals.lost(nodeId);
  }

  /** Called when a peer has refused this node as already connected. Warns when a dead connection cannot be the cause. */
  refusedUs(peer: RefusingPeer): void {
    const { own, isTrusted, onSharedKey, logger } = this.parts;
    const isProof = this.refusals.lasts(peer) && isTrusted(peer.nodeId);
    if (!isProof) this.reportRefusal(peer);
    if (!isProof || !this.isDue(own.nodeId)) return;
    const address = addressOfPublicKey(own.nodeId);
    onSharedKey?.(address, { isProven: false });
    const peerAddress = addressOfPublicKey(peer.nodeId);
    logger.error(
      { address, peer: peerAddress },
      `TWO NODES RUN WITH THE KEY of this node (${toHex(address)}): the peer ${toHex(peerAddress)} keeps refusing this ` +
        "one, because a node with its key is connected to it and answers (alreadyConnected). Two validators with one key " +
        "can split the chain: stop one of the two at once",
    );
  }

  /** Called when a configured peer has this node's id, but not its address. */
  configured({ host, tcpPort }: NodeAddress): void {
    this.parts.logger.warn(
      { host, port: tcpPort },
      "a configured peer has this node's own id, at an address that is not this one's: if another node runs " +
        "there, the two have one key, and two validators with one key can split the chain; give one of them a key of " +
        "its own (--node-private-key-file). If the address is this node's, say so with --p2p-host",
    );
  }

  /**
   * Called when a connection was refused as one to ourselves, which proves that another node has our key, because this node
   * never dials itself. Warns once a minute, because such a node keeps connecting.
   */
  calledByOwnKey({ connection, hello }: Called): void {
    this.parts.onSharedKey?.(addressOfPublicKey(hello.nodeId), { isProven: true });
    if (!this.isDue(hello.nodeId)) return;
    this.parts.logger.warn(
      { ...connection.remote },
      "another node has this node's key: two validators with one key can split the chain; " +
        "stop one of the two, and give it a key of its own (--node-private-key-file)",
    );
  }

  /**
   * Called when a peer's second connection was refused, because the first one is alive (rivalConnections.ts). Warns once a
   * minute.
   */
  bothAlive(first: Called, second: Called): void {
    const address = addressOfPublicKey(second.hello.nodeId);
    this.parts.onSharedKey?.(address, { isProven: true });
    if (!this.isDue(second.hello.nodeId)) return;
    const [one, other] = [placeOf(first), placeOf(second)];
    this.parts.logger.warn(
      { address, connected: one, refused: other },
      `two nodes run with the key of ${toHex(address)}: the one at ${one} is connected and answers, the one at ${other} is ` +
        "refused. Two validators with one key can split the chain: stop one of the two",
    );
  }

  private reportRefusal({ nodeId }: RefusingPeer): void {
    const nowMs = this.parts.clock.nowMs();
    if (nowMs - this.refusalReportedMs < WARNING_PAUSE_MS) return;
    this.refusalReportedMs = nowMs;
    this.parts.logger.info(
      { peer: addressOfPublicKey(nodeId) },
      "a peer still holds an earlier connection of this node (alreadyConnected), and will be redialed",
    );
  }

  private isDue(nodeId: Uint8Array): boolean {
    const key = toKey(nodeId);
    const nowMs = this.parts.clock.nowMs();
    if (nowMs - (this.warnedMs.get(key) ?? Number.NEGATIVE_INFINITY) < WARNING_PAUSE_MS) return false;
    this.warnedMs.delete(key);
    this.warnedMs.set(key, nowMs);
    dropOldest(this.warnedMs, KEYS_REMEMBERED);
    return true;
  }
}

/** The address at which a node listens. */
function placeOf({ connection: { remote, isInbound }, hello }: Called): string {
  return `${remote.host}:${isInbound ? hello.listenPort : remote.port}`;
}

const KEYS_REMEMBERED = 256;

const WARNING_PAUSE_MS = 60_000;
