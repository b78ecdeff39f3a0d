/** A message as it is counted: `eth/68`, `GetBlockHeaders`, 3. Those that belong to no protocol have no code. */
export interface PassingMessage {
  readonly direction: "inbound" | "outbound";
  readonly protocol: string;
  readonly name: string;
  readonly code: number | undefined;
}

/** Why somebody who called was not let in. */
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

/** What passes between us and others, to be counted by. */
export interface Traffic {
  passed(message: PassingMessage): void;
  inboundRefused(cause: AdmissionErrorCause): void;
}

/** Messages of the base protocol, by id (p2p.md#base-protocol). */
const BASE_NAMES = ["Hello", "Disconnect", "Ping", "Pong"];

export function baseMessage(direction: PassingMessage["direction"], id: number): PassingMessage {
  const name = BASE_NAMES[id];
  return { direction, protocol: "Wire", name: name ?? "Invalid", code: name === undefined ? undefined : id };
}
