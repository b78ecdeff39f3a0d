import type { Duplex } from "node:stream";
import { assert } from "../../primitives/assert.ts";
import { type JsonPiece, lengthOfPieces } from "../../primitives/jsonPieces.ts";

/** Length from which writing three pieces is cheaper than copying the middle one for each reader. */
export const SHARED_BYTES = 4096;

/**
 * Writes one text frame (RFC 6455 §5.2) of more than 125 bytes directly to the stream under a WebSocket of the `ws`
 * library. Bytes are not copied, so many connections can share them. Without compression, which the servers here disable,
 * the library writes each frame in one go, so this frame never lands between the parts of another.
 */
export function writeFrame(stream: Duplex, pieces: readonly JsonPiece[], onSent: () => void): void {
  stream.write(frameStart(lengthOfPieces(pieces)));
  for (const [index, piece] of pieces.entries())
    stream.write(piece, index === pieces.length - 1 ? onSent : undefined);
}

/** One text frame of at most 65,535 bytes, as one buffer. */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const frame = emptyFrame(length);
  frame.write(text, frame.length - length);
  return frame;
}

/** One text frame of three parts, the outer ones in ASCII, as one buffer: for small notifications to many readers. */
export function smallFrame(before: string, body: Uint8Array, after: string): Buffer {
  const length = before.length + body.length + after.length;
  const frame = emptyFrame(length);
  const start = frame.length - length;
  const at = start + before.length;
  frame.write(before, start, "latin1");
  frame.set(body, at);
  frame.write(after, at + body.length, "latin1");
  return frame;
}

/** A text frame whose last `length` bytes are to be written. */
function emptyFrame(length: number): Buffer {
  assert(length <= 0xffff, "a small frame has at most 65535 bytes");
  const startBytes = length < LENGTH_IN_16_BITS ? 2 : 4;
  const frame = Buffer.allocUnsafe(startBytes + length);
  frame[0] = FINAL_TEXT;
  if (startBytes === 2) frame[1] = length;
  else {
    frame[1] = LENGTH_IN_16_BITS;
    frame.writeUInt16BE(length, 2);
  }
  return frame;
}

/** The header of a final, unmasked text frame of more than 125 bytes. */
function frameStart(length: number): Buffer {
  const isShort = length <= 0xffff;
  const start = Buffer.from([
    FINAL_TEXT,
    isShort ? LENGTH_IN_16_BITS : LENGTH_IN_64_BITS,
    ...Array(isShort ? 2 : 8).fill(0),
  ]);
  if (isShort) start.writeUInt16BE(length, 2);
  else start.writeBigUInt64BE(BigInt(length), 2);
  return start;
}

const FINAL_TEXT = 0x81;
const LENGTH_IN_16_BITS = 126;
const LENGTH_IN_64_BITS = 127;
