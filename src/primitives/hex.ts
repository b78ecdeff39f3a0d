/** Text of the form 0x followed by lower-case hexadecimal digits. */
export type Hex = `0x${string}`;

export const EMPTY_BYTES: Uint8Array = new Uint8Array(0);

/** Lower-case hex with the 0x prefix; empty bytes give "0x". */
export function toHex(bytes: Uint8Array): Hex {
  return `0x${viewAsBuffer(bytes).toString("hex")}`;
}

/** Lower-case hex without prefix. */
export function toDigits(bytes: Uint8Array): string {
  return viewAsBuffer(bytes).toString("hex");
}

/** At most 32 bytes as a word, padded on the left, with the 0x prefix: how the value of a storage slot is shown. */
export function toWordHex(bytes: Uint8Array): Hex {
  return `0x${toDigits(bytes).padStart(64, "0")}`;
}

const HEX_BYTES = /^(0x|0X)?(?:[0-9a-fA-F]{2})*$/;

/** Bytes of a hex text (prefix optional); undefined when a digit is wrong or the count of digits is odd. */
export function parseHex(text: string): Uint8Array | undefined {
  if (!HEX_BYTES.test(text)) return undefined;
  const start = text.startsWith("0x") || text.startsWith("0X") ? 2 : 0;
  return Uint8Array.from(Buffer.from(start === 0 ? text : text.slice(start), "hex"));
}

/** Bytes of a hex text known to be well-formed; throws RangeError otherwise. Use parseHex at boundaries. */
export function hexToBytes(text: string): Uint8Array {
  const bytes = parseHex(text);
  if (bytes === undefined) throw new RangeError(`not hexadecimal bytes: ${text.slice(0, 80)}`);
  return bytes;
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true;
  return a.length === b.length && viewAsBuffer(a).equals(b);
}

export function includesBytes(list: readonly Uint8Array[], wanted: Uint8Array): boolean {
  return list.some((one) => equalBytes(one, wanted));
}

/** Order of unsigned big-endian texts: negative, zero or positive. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** A Buffer over the same memory; no copy. */
export function viewAsBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
