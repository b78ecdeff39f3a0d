import type { Duplex } from "node:stream";

/** From here on it is cheaper to write three pieces than to copy the middle one for each reader. */
export const SHARED_BYTES = 4096;

/**
 * Writes one text frame (RFC 6455 §5.2) with a middle of at least SHARED_BYTES that many connections share, straight to
 * the connection under a WebSocket of the `ws` library. That library writes each frame whole as long as it compresses
 * nothing, which ours does not, so that this never comes between the parts of another.
 */
export function writeShared(
  stream: Duplex,
  [before, shared, after]: readonly [string, Buffer, string],
  onSent: () => void,
): void {
  const length = Buffer.byteLength(before) + shared.length + Buffer.byteLength(after);
  stream.write(Buffer.concat([frameStart(length), Buffer.from(before)]));
  stream.write(shared);
  stream.write(after, onSent);
}

/** A final text frame without a mask, of more than 125 bytes. */
function frameStart(length: number): Buffer {
  const isShort = length <= 0xffff;
  const start = Buffer.from([
    0x81,
    isShort ? LENGTH_IN_16_BITS : LENGTH_IN_64_BITS,
    ...Array(isShort ? 2 : 8).fill(0),
  ]);
  if (isShort) start.writeUInt16BE(length, 2);
  else start.writeBigUInt64BE(BigInt(length), 2);
  return start;
}

const LENGTH_IN_16_BITS = 126;
const LENGTH_IN_64_BITS = 127;
