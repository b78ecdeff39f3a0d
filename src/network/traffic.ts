import type { PacketKind } from "./discovery/packets.ts";

/** A message as counted: `eth/68`, `GetBlockHeaders`, 3. Messages outside all protocols have no code. */
export interface PassingMessage {
  readonly direction: "inbound" | "outbound";
  readonly protocol: string;
  readonly name: string;
  readonly code: number | undefined;
}

/** Why an inbound connection was refused. */
export type AdmissionErrorCause =
  | "rate"
  | "sockets"
  | "crowded"
  | "handshake"
  | "self"
  | "denied"
  | "permissions"
  | "connected"
  | "peers";

/** Counters of messages, refused connections and datagrams. */
export interface Traffic {
  passed(message: PassingMessage): void;
  inboundRefused(cause: AdmissionErrorCause): void;
  /** A packet of discovery was sent, or was read. */
  discovered(direction: PassingMessage["direction"], kind: PacketKind): void;
  /** A datagram was dropped unread or unanswered, for this reason. */
  datagramDropped(reason: string): void;
}

/** Messages of the base protocol, by id (p2p.md#base-protocol). */
const BASE_NAMES = ["Hello", "Disconnect", "Ping", "Pong"];

export function baseMessage(direction: PassingMessage["direction"], id: number): PassingMessage {
  const name = BASE_NAMES[id];
  return { direction, protocol: "Wire", name: name ?? "Invalid", code: name === undefined ? undefined : id };
}
