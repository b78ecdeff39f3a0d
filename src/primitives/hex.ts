/** Text of the form 0x followed by lower-case hexadecimal digits. */
export type Hex = `0x${string}`;

export const EMPTY_BYTES: Uint8Array = new Uint8Array(0);

/** Lower-case hex with the 0x prefix; empty bytes give "0x". */
export function toHex(bytes: Uint8Array): Hex {
  return `0x${toDigits(bytes)}`;
}

/** A reused buffer halves the time to convert hashes and addresses, tens of thousands at a time. */
const scratch = Buffer.alloc(64);

/** Lower-case hex without prefix. */
export function toDigits(bytes: Uint8Array): string {
  const { length } = bytes;
  if (length > scratch.length) return viewAsBuffer(bytes).toString("hex");
  scratch.set(bytes);
  return scratch.toString("hex", 0, length);
}

/** Hex of at most 32 bytes as a word, padded on the left, with the 0x prefix, as RPC shows the value of a storage slot. */
export function toWordHex(bytes: Uint8Array): Hex {
  return `0x${toDigits(bytes).padStart(64, "0")}`;
}

const HEX_BYTES = /^(0x|0X)?(?:[0-9a-fA-F]{2})*$/;

/** Bytes of a hex text (prefix optional); undefined when a digit is wrong or the count of digits is odd. */
export function parseHex(text: string): Uint8Array | undefined {
  const start = text.startsWith("0x") || text.startsWith("0X") ? 2 : 0;
  const count = text.length - start;
  if (count <= SHORT_DIGITS) return count % 2 === 0 ? parseDigits(text, start, count / 2) : undefined;
  if (!HEX_BYTES.test(text)) return undefined;
  return Uint8Array.from(Buffer.from(start === 0 ? text : text.slice(start), "hex"));
}

/** Longest text for which a loop takes a third of Buffer's time: it covers hashes and usual transactions. */
const SHORT_DIGITS = 512;

/** Decodes `length` bytes from the digits of a text from `start` on; undefined when one is wrong or missing. */
export function parseDigits(text: string, start: number, length: number): Uint8Array | undefined {
  const bytes = new Uint8Array(length);
  for (let index = 0, at = start; index < length; index++, at += 2) {
    const byte = (digitAt(text, at) << 4) | digitAt(text, at + 1);
    if (byte < 0) return undefined;
    bytes[index] = byte;
  }
  return bytes;
}

/** Value of a hex digit; -1 for other characters. */
function digitAt(text: string, at: number): number {
  return DIGITS[text.charCodeAt(at)] ?? -1;
}

const DIGITS = new Int8Array(128).map((_, code) =>
  "0123456789abcdef".indexOf(String.fromCharCode(code).toLowerCase()),
);

/** Bytes of a hex text known to be well-formed; throws RangeError otherwise. Use parseHex at boundaries. */
export function hexToBytes(text: string): Uint8Array {
  const bytes = parseHex(text);
  if (bytes === undefined) throw new RangeError(`not hexadecimal bytes: ${text.slice(0, 80)}`);
  return bytes;
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true;
  const { length } = a;
  if (length !== b.length) return false;
  if (length > SHORT_BYTES) return Buffer.compare(a, b) === 0;
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** Greatest length for which a loop is faster, and much faster when the first bytes differ: it covers addresses and hashes. */
const SHORT_BYTES = 64;

export function includesBytes(list: readonly Uint8Array[], wanted: Uint8Array): boolean {
  return list.some((one) => equalBytes(one, wanted));
}

/** Compares lexicographically, byte by byte: negative, zero or positive. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  return joinBytes(parts);
}

/** Like concatBytes, for any number of parts. The whole has a buffer of its own. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
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
