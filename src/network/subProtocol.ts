import type { Address } from "../primitives/address.ts";
import type { Spoken } from "./rlpx/capabilities.ts";
import type { Remote } from "./rlpx/connection.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";
import type { Hello } from "./rlpx/hello.ts";
import type { MessagePriority } from "./rlpx/messagePriority.ts";

/**
 * What is spoken over connections, plugged into the network (createNetwork). Each connection on which both ends know it
 * is a session of its own; a peer has two for some seconds when both called each other
 * (p2p.md#connection-policy), so whoever waits for answers waits by node id. Callbacks run while bytes are
 * being read: they keep what they need, and return soon.
 */
export interface SubProtocol extends Spoken {
  /** True when peers introduce themselves in it: a connection counts only after `greeted` was called. */
  readonly hasGreeting?: boolean;
  /** How its messages wait where a connection is slow: as any others unless stated. */
  readonly priority?: MessagePriority;
  /** What its messages are called, by code. */
  readonly messageNames?: readonly (string | undefined)[];
  onOpen(session: Session): void;
  /** `code` counts from 0; the payload is uncompressed and belongs to whoever is called. */
  onMessage(session: Session, code: number, payload: Uint8Array): void;
  /** Once for each session that was opened. */
  onClose(session: Session, reason: DisconnectReason): void;
}

/** The thread's time for what a peer sends: all strangers have one share together, and whoever matters to us needs none. */
export interface PeerShare {
  /** Named by the operator, or a validator. */
  readonly isTrusted: boolean;
  /** Does the work at once, or once the share has time again. */
  take(work: () => void): void;
  /** Other threads spend that time for it. */
  spend(durationMs: number): void;
}

/** One sub-protocol on one connection. */
export interface Session {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  /** Of the node's key: the validator's, if it is one. */
  readonly address: Address;
  readonly hello: Hello;
  /** The version that both speak. */
  readonly version: number;
  /** True when the peer called us. */
  readonly isInbound: boolean;
  readonly remote: Remote;
  /** True when the operator wants to stay connected with the node. */
  readonly isMaintained: boolean;
  /** False on the one of two crossing connections that will be closed soon. */
  readonly isLasting: boolean;
  /** For work that what it sent leads to later. */
  readonly share: PeerShare;
  /** What came over the connection so far. */
  readonly receivedBytes: number;
  /** False when it cannot be sent: the connection has ended, the message is too large, or too much waits already. */
  send(code: number, payload: Uint8Array): boolean;
  /** Ends the connection, with all its sessions. A breach of protocol is remembered until the node restarts. */
  disconnect(reason: DisconnectReason, detail?: string): void;
  /** The peer has said what this protocol wants to hear first, and it was right. */
  greeted(): void;
  /** An answer that helped, or one that did not (an empty one, none in time): too many of these end the connection. */
  reward(): void;
  penalise(): void;
}
