import type { Socket } from "node:net";
import { HELLO_BYTES, HELLO_PIECES } from "./handshakeLimits.ts";

/** Why no handshake begins with what a client sent; its first bytes. */
export interface NoHello {
  readonly reason: "not TLS" | "first message too large" | "first message in too many pieces";
  readonly first: Buffer;
}

/**
 * Waits for the whole first message of a client (ClientHello), and pauses the socket. OpenSSL, which would keep some ten
 * kilobytes for each connection from the first byte on, sees only whole ones: the returned function puts what came back unread
 * when the handshake begins. Not before, because a socket with something unread does not tell that its client is gone.
 */
export function awaitClientHello(socket: Socket, settle: (refused: NoHello | undefined) => void): () => void {
  const pieces: Buffer[] = [];
  let bytes: Buffer = Buffer.alloc(0);
  const listen = (piece: Buffer): void => {
    pieces.push(piece);
    bytes = pieces.length === 1 ? piece : Buffer.concat(pieces);
    const found = judge(bytes, pieces.length);
    if (found === "incomplete") return;
    socket.off("data", listen);
    socket.pause();
    settle(found === "whole" ? undefined : { reason: found, first: bytes });
  };
  socket.on("data", listen);
  return () => socket.unshift(bytes);
}

function judge(bytes: Buffer, pieces: number): "incomplete" | "whole" | NoHello["reason"] {
  const message = firstMessage(bytes);
  if (message === undefined || (message.length > 0 && message[0] !== CLIENT_HELLO)) return "not TLS";
  const wanted = MESSAGE_HEADER + (message.length < MESSAGE_HEADER ? 0 : message.readUIntBE(1, 3));
  if (wanted > HELLO_BYTES) return "first message too large";
  if (message.length >= wanted) return "whole";
  if (bytes.length >= HELLO_BYTES) return "first message too large";
  return pieces < HELLO_PIECES ? "incomplete" : "first message in too many pieces";
}

/** What the records hold, which a message may be spread over (RFC 8446, 5.1); undefined for other records than of a handshake. */
function firstMessage(bytes: Buffer): Buffer | undefined {
  const fragments: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== HANDSHAKE_RECORD) return undefined;
    if (bytes.length < at + RECORD_HEADER) break;
    const end = at + RECORD_HEADER + bytes.readUInt16BE(at + 3);
    fragments.push(bytes.subarray(at + RECORD_HEADER, end));
    at = end;
  }
  return Buffer.concat(fragments);
}

/** Types of a record, and of a message in it, with the bytes before their contents. */
const HANDSHAKE_RECORD = 0x16;
const RECORD_HEADER = 5;
const CLIENT_HELLO = 1;
const MESSAGE_HEADER = 4;
