/** Disconnect reasons with their codes on the wire (p2p.md#disconnect-reasons). */
const DISCONNECT_CODES = {
  requested: 0x00,
  tcpError: 0x01,
  breachOfProtocol: 0x02,
  uselessPeer: 0x03,
  tooManyPeers: 0x04,
  alreadyConnected: 0x05,
  incompatibleVersion: 0x06,
  nullIdentity: 0x07,
  clientQuitting: 0x08,
  unexpectedIdentity: 0x09,
  self: 0x0a,
  timeout: 0x0b,
  subprotocolTriggered: 0x10,
} as const;

/** `unknown` has no code: it is sent as an empty string, and stands for an unreadable reason. */
export type DisconnectReason = keyof typeof DISCONNECT_CODES | "unknown";

/** How a connection ended. */
export interface Disconnect {
  readonly reason: DisconnectReason;
  /** Which end closed it; `nobody` when the TCP connection was lost. */
  readonly by: "us" | "them" | "nobody";
  /** Explanation for logs. */
  readonly detail: string;
}

const REASONS = new Map<number, DisconnectReason>(
  Object.entries(DISCONNECT_CODES).map(([reason, code]) => [code, reason as DisconnectReason]),
);

/** The payload of Disconnect; `requested` is the byte 00, not the empty string that RLP makes of zero. */
export function encodeDisconnect(reason: DisconnectReason): Uint8Array {
  return Uint8Array.of(0xc1, reason === "unknown" ? 0x80 : DISCONNECT_CODES[reason]);
}

/** Decodes a list or a bare byte; anything else is `unknown`. */
export function decodeDisconnect(payload: Uint8Array): DisconnectReason {
  const code = payload[0] !== undefined && payload[0] >= 0xc1 ? payload[1] : payload[0];
  return (code === undefined ? undefined : REASONS.get(code)) ?? "unknown";
}
