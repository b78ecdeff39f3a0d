/*
 * Unsigned integers as big-endian bytes without leading zeros, written in place. Converting through text, as
 * primitives/quantity.ts does, takes 30 ms for the balances of a full block alone.
 */

const scratch = new DataView(new ArrayBuffer(8));

/** Number of bytes of the value; 0 for zero. */
export function scalarLength(value: bigint): number {
  let rest = value;
  let length = 0;
  while (rest > 0xffff_ffff_ffff_ffffn) {
    rest >>= 64n;
    length += 8;
  }
  const number = Number(rest >> 32n);
  const [word, wordBytes] = number === 0 ? [Number(rest), 0] : [number, 4];
  return (
    length + wordBytes + (word === 0 ? 0 : word < 0x100 ? 1 : word < 0x10000 ? 2 : word < 0x1000000 ? 3 : 4)
  );
}

/** Writes a value of `length` bytes (see scalarLength); returns the index after it. */
export function writeScalar(bytes: Uint8Array, start: number, value: bigint, length: number): number {
  let rest = value;
  let at = start + length;
  while (at > start) {
    scratch.setBigUint64(0, BigInt.asUintN(64, rest));
    for (let i = 7; i >= 0 && at > start; i--) bytes[--at] = scratch.getUint8(i);
    rest >>= 64n;
  }
  return start + length;
}

export function readScalar(bytes: Uint8Array, start: number, length: number): bigint {
  if (length <= 6) {
    let value = 0;
    for (let i = 0; i < length; i++) value = value * 256 + (bytes[start + i] ?? 0);
    return BigInt(value);
  }
  let value = 0n;
  let at = start;
  for (let rest = length; rest > 0; ) {
    const take = rest % 8 === 0 ? 8 : rest % 8;
    scratch.setBigUint64(0, 0n);
    for (let i = 0; i < take; i++) scratch.setUint8(8 - take + i, bytes[at++] ?? 0);
    value = (value << BigInt(8 * take)) | scratch.getBigUint64(0);
    rest -= take;
  }
  return value;
}
