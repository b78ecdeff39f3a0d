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

/** Why input of a connected peer was refused (p2p.md#abuse). */
export type InputRefusal =
  /** A frame that is forged, too long, or does not decompress to a message. */
  | "badFrame"
  /** A message of eth that is malformed, longer than its kind may be, or out of place. */
  | "malformed"
  /** A response that no request asked for. */
  | "unsolicitedResponse"
  /** A response with the id of no request, while others are open. */
  | "wrongRequestId"
  /** A response after its request was given up. */
  | "lateResponse"
  /** A request that got no response in time. */
  | "noResponse"
  /** A request beyond the limit of waiting ones. */
  | "tooManyRequests"
  /** The peer did not return the header of the head that it named. */
  | "falseHead"
  /** A transaction that was announced, and is missing in the response. */
  | "undelivered"
  /** A transaction with another type or size than it was announced with. */
  | "falseAnnouncement"
  /** An announced transaction beyond the limit of waiting ones. */
  | "tooManyAnnouncements"
  /** A message of transactions beyond the limit of waiting ones. */
  | "tooManyTransactions"
  /** Transactions or announcements of a peer that is ignored for a while. */
  | "ignored"
  /** An announced block far from the head, or one that cannot belong to an IBFT chain. */
  | "strayBlock"
  /** A block that breaks a rule. */
  | "invalidBlock"
  /** Blocks that the peer claims to have, and did not deliver, or not in time. */
  | "missingBlocks";

/** Why a node that proved its endpoint, or was named by another, does not enter the table of discovery. */
export type NodeRefusal =
  /** Its subnet has all the places that it is allowed. */
  | "subnet"
  /** Its bucket is full. */
  | "bucket"
  /** Its address cannot be known to the node that named it, or is missing. */
  | "address"
  /** It is beyond the number of nodes that a response may name. */
  | "surplus"
  /** Too many nodes are being pinged. */
  | "crowded";

/** Counters of messages, refused connections, datagrams, and refused input of peers and nodes. */
export interface Traffic {
  passed(message: PassingMessage): void;
  inboundRefused(cause: AdmissionErrorCause): void;
  inputRefused(reason: InputRefusal, count: number): void;
  nodeRefused(reason: NodeRefusal, count: number): void;
  /** Counts a packet of discovery that was sent or read. */
  discovered(direction: PassingMessage["direction"], kind: PacketKind): void;
  /** Counts a datagram that was dropped unread or unanswered, by its reason. */
  datagramDropped(reason: string): void;
}

/** Messages of the base protocol, by id (p2p.md#base-protocol). */
const BASE_NAMES = ["Hello", "Disconnect", "Ping", "Pong"];

export function baseMessage(direction: PassingMessage["direction"], id: number): PassingMessage {
  const name = BASE_NAMES[id];
  return { direction, protocol: "Wire", name: name ?? "Invalid", code: name === undefined ? undefined : id };
}
