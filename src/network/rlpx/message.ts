/** A frame's content. Ids below FIRST_PROTOCOL_ID belong to the base protocol (p2p.md#base-protocol). */
export interface Message {
  readonly id: number;
  readonly payload: Uint8Array;
}

export const HELLO = 0x00;
export const DISCONNECT = 0x01;
export const PING = 0x02;
export const PONG = 0x03;
/** Payload of Ping and Pong: an empty list. */
export const EMPTY_LIST = Uint8Array.of(0xc0);

/** The id is an RLP integer: one byte, or two from 0x80 on, which no client uses and this node does not write. */
export function encodeMessageId(id: number): Uint8Array {
  return Uint8Array.of(id === 0 ? 0x80 : id);
}

/** Undefined when the frame does not begin with an id. */
export function splitMessage(body: Uint8Array): Message | undefined {
  const [first, second] = body;
  if (first === undefined) return undefined;
  if (first <= 0x80) return { id: first === 0x80 ? 0 : first, payload: body.subarray(1) };
  const isLong = first === 0x81 && second !== undefined && second >= 0x80;
  return isLong ? { id: second, payload: body.subarray(2) } : undefined;
}
