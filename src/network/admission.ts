import { compareBytes, equalBytes } from "../primitives/hex.ts";
import { SETUP_TIMEOUT_MS } from "./limits.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";
import type { AdmissionErrorCause } from "./traffic.ts";

/** An open connection to the peer in question. */
export interface OpenConnection {
  readonly isInbound: boolean;
  readonly openedMs: number;
}

export interface ConnectionRequest {
  readonly ownId: Uint8Array;
  readonly nodeId: Uint8Array;
  readonly isInbound: boolean;
  readonly isMaintained: boolean;
  readonly isDenied: boolean;
  readonly isPermitted: boolean;
  /** Connections to the same node id. */
  readonly known: readonly OpenConnection[];
  readonly peerCount: number;
  /** Those that called us. */
  readonly inboundCount: number;
}

export interface PeerLimits {
  readonly maxPeers: number;
  /** Most of them that may have called us; undefined for no share of their own. */
  readonly maxInbound: number | undefined;
}

export interface AdmissionError {
  readonly cause: AdmissionErrorCause;
  readonly reason: DisconnectReason;
  readonly detail: string;
}

/**
 * Whether a peer that has introduced itself may stay (p2p.md#connection-policy); undefined when it may. An
 * incoming connection that is not wanted is refused without a reason, as the incumbent does, but for those
 * about which a peer can do something.
 */
export function refuseConnection(
  request: ConnectionRequest,
  limits: PeerLimits,
  nowMs: number,
): AdmissionError | undefined {
  const { isInbound, known } = request;
  if (equalBytes(request.ownId, request.nodeId))
    return { cause: "self", reason: "self", detail: "it is this node" };
  if (request.isDenied) return { cause: "denied", reason: "unknown", detail: "it is on the denylist" };
  if (!request.isPermitted) return { cause: "permissions", reason: "unknown", detail: "it is not permitted" };
  if (known.length > 0) {
    // A pair may cross only while both were being set up.
    const isSimultaneous = known.every(
      (other) => other.isInbound !== isInbound && nowMs - other.openedMs < SETUP_TIMEOUT_MS,
    );
    if (isSimultaneous) return undefined;
    return {
      cause: "connected",
      reason: isInbound ? "unknown" : "alreadyConnected",
      detail: "there is a connection already",
    };
  }
  if (request.isMaintained) return undefined;
  if (request.peerCount >= limits.maxPeers) {
    return { cause: "peers", reason: "tooManyPeers", detail: `there are ${request.peerCount} peers` };
  }
  if (isInbound && limits.maxInbound !== undefined && request.inboundCount >= limits.maxInbound) {
    return { cause: "peers", reason: "tooManyPeers", detail: `${request.inboundCount} peers have called` };
  }
  return undefined;
}

/** Of two crossing connections the one stays that the node with the lower id began. */
export function isLastingDirection(
  ownId: Uint8Array,
  nodeId: Uint8Array,
  { isInbound }: { readonly isInbound: boolean },
): boolean {
  return compareBytes(ownId, nodeId) < 0 !== isInbound;
}
