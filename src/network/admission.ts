import { equalBytes } from "../primitives/hex.ts";
import { SETUP_TIMEOUT_MS } from "./limits.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";
import type { AdmissionErrorCause } from "./traffic.ts";

/** An open connection to the same peer. */
interface OpenConnection {
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
  /** Open connections to the same node id. */
  readonly known: readonly OpenConnection[];
  readonly peerCount: number;
  /** Number of peers with an inbound connection that are not maintained. */
  readonly inboundCount: number;
}

export interface PeerLimits {
  readonly maxPeers: number;
  /** Most peers with an inbound connection, without maintained ones; undefined for no separate limit. */
  readonly maxInbound: number | undefined;
}

export interface AdmissionError {
  readonly cause: AdmissionErrorCause;
  readonly reason: DisconnectReason;
  readonly detail: string;
}

/**
 * Decides whether a peer that has sent its Hello may stay (p2p.md#connection-policy); undefined when it may. An inbound
 * connection is refused without a reason, as Besu does, except for causes that a peer can act on.
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
    // A pair of connections may cross only while both were being set up.
    const isSimultaneous = known.every(
      (other) => other.isInbound !== isInbound && nowMs - other.openedMs < SETUP_TIMEOUT_MS,
    );
    if (isSimultaneous) return undefined;
    return {
      cause: "connected",
      reason: "alreadyConnected",
      detail: "there is a connection already",
    };
  }
  if (request.isMaintained) return undefined;
  if (request.peerCount >= limits.maxPeers) {
    return { cause: "peers", reason: "tooManyPeers", detail: `there are ${request.peerCount} peers` };
  }
  if (isInbound && limits.maxInbound !== undefined && request.inboundCount >= limits.maxInbound) {
    return {
      cause: "peers",
      reason: "tooManyPeers",
      detail: `there are ${request.inboundCount} inbound peers`,
    };
  }
  return undefined;
}
