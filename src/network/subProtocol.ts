import type { Address } from "../primitives/address.ts";
import type { Endpoint } from "../primitives/endpoint.ts";
import type { Spoken } from "./rlpx/capabilities.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";
import type { Hello } from "./rlpx/hello.ts";
import type { MessagePriority } from "./rlpx/messagePriority.ts";

/**
 * A protocol over RLPx connections, plugged into the network (createNetwork). Each connection that negotiated it is a
 * session of its own; a peer has two sessions for some seconds after both ends dialed (p2p.md#connection-policy), so waiting
 * requests are keyed by node id. Callbacks run while bytes are being read: they must copy what they keep, and return soon.
 */
export interface SubProtocol extends Spoken {
  /** True when the protocol has a handshake: a connection counts only after `greeted` was called. */
  readonly hasGreeting?: boolean;
  /** True when every node is expected to support it: the log names peers that share no version of it. */
  readonly isExpected?: boolean;
  /** Priority of its messages on a slow connection; ordinary unless stated. */
  readonly priority?: MessagePriority;
  /** Names of its messages, by code. */
  readonly messageNames?: readonly (string | undefined)[];
  onOpen(session: Session): void;
  /** `code` counts from 0; the payload is uncompressed and belongs to the callee. */
  onMessage(session: Session, code: number, payload: Uint8Array): void;
  /** Called once for each opened session. */
  onClose(session: Session, reason: DisconnectReason): void;
}

/** Main-thread time for a peer's input: all untrusted peers share one budget, trusted ones are not limited. */
export interface PeerShare {
  /** True for a validator, or a peer named by the operator. */
  readonly isTrusted: boolean;
  /** Does the work now, or when the budget has time again. */
  take(work: () => void): void;
  /** Charges time that other threads spend on the peer's input. */
  spend(durationMs: number): void;
}

/** One sub-protocol on one connection. */
export interface Session {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  /** Address of the node key; the validator's address, if it is a validator. */
  readonly address: Address;
  readonly hello: Hello;
  /** The negotiated version. */
  readonly version: number;
  /** True when the peer opened the connection. */
  readonly isInbound: boolean;
  readonly remote: Endpoint;
  /** True when the operator configured the node as a peer. */
  readonly isMaintained: boolean;
  /** False for the crossing connection that will be closed soon. */
  readonly isLasting: boolean;
  /** Whether the handshakes of all protocols on the connection are complete, which shows that the other end keeps it. */
  readonly isReady: boolean;
  /** Budget for deferred work on the peer's input. */
  readonly share: PeerShare;
  /** Bytes received on the connection so far. */
  readonly receivedBytes: number;
  /**
   * False when the message cannot be sent: the connection has ended, the message is too large, or too much is queued.
   */
  send(code: number, payload: Uint8Array): boolean;
  /** Ends the connection, with all its sessions. A breach of protocol is remembered until the node restarts. */
  disconnect(reason: DisconnectReason, detail?: string): void;
  /** Marks the protocol's handshake as complete. */
  greeted(): void;
  /**
   * `reward` after a useful response, `penalise` after a useless one (empty, or none in time); too many useless ones
   * end the connection.
   */
  reward(): void;
  penalise(): void;
}
