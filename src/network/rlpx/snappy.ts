import { compress } from "snappyjs";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { STEP_BYTES, type Steps } from "../../primitives/steps.ts";

/**
 * Snappy's raw block format, used for messages after Hello (p2p.md#frames). The package of the wire library compresses;
 * decompression is our own, because that package trusts the sender: it allocates what the first bytes claim, copies beyond
 * the end, and misses output shorter than announced. A message for several peers, such as a block, is one object and
 * compressed once: it must not be changed after it was sent.
 */
export function compressSnappy(bytes: Uint8Array): Uint8Array {
  if (bytes.length < MIN_CACHED_BYTES) return compress(bytes);
  const known = compressedForms.get(bytes);
  if (known !== undefined) return known;
  const compressed = compress(bytes);
  compressedForms.set(bytes, compressed);
  return compressed;
}

/** Compresses a long message in steps, so that compressSnappy has its result when it is sent. */
export function* compressSnappyInSteps(bytes: Uint8Array): Steps<void> {
  if (bytes.length <= COMPRESS_STEP_BYTES || compressedForms.has(bytes)) return;
  const parts: Uint8Array[] = [lengthPrefix(bytes.length)];
  for (let at = 0; at < bytes.length; at += COMPRESS_STEP_BYTES) {
    const compressed = compress(bytes.subarray(at, at + COMPRESS_STEP_BYTES));
    // Offsets within the elements count backwards, so the elements of the next piece can simply follow.
    parts.push(compressed.subarray(readLength(compressed)?.from));
    yield;
  }
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let end = 0;
  for (const part of parts) {
    whole.set(part, end);
    end += part.length;
    if (end % STEP_BYTES < part.length) yield;
  }
  compressedForms.set(bytes, whole);
}

/** A length in seven bits a byte, lowest first. */
function lengthPrefix(length: number): Uint8Array {
  const bytes: number[] = [];
  let rest = length;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.of(...bytes, rest);
}

/** Bytes compressed in half a millisecond. The package also compresses pieces of this length separately. */
const COMPRESS_STEP_BYTES = 64 * 1024;

/** Compressed forms, kept as long as their originals. */
const compressedForms = new WeakMap<Uint8Array, Uint8Array>();
const MIN_CACHED_BYTES = 1024;

/** Largest expansion: no element expands 3 bytes to more than 64, so a greater length is false and costs no memory. */
const LARGEST_EXPANSION = 22;

/**
 * Decompresses; fails when the input is malformed, or longer than `maxBytes` uncompressed. Allocates no more than the
 * output.
 */
export function uncompressSnappy(bytes: Uint8Array, maxBytes: number): Result<Uint8Array, "badSnappy"> {
  const header = readLength(bytes);
  if (header === undefined) return fail("peer", "badSnappy", "its length is not readable");
  const { length, from } = header;
  if (length > maxBytes) return fail("peer", "badSnappy", `${length} bytes are more than ${maxBytes}`);
  if (length > (bytes.length - from) * LARGEST_EXPANSION)
    return fail("peer", "badSnappy", "its length cannot be true");
  const output = new Uint8Array(length);
  return fill(output, bytes, from) ? ok(output) : fail("peer", "badSnappy", "an element is wrong");
}

/**
 * Fills the output; false when an element is truncated, points outside the output so far, or the output is not filled
 * exactly.
 */
function fill(output: Uint8Array, bytes: Uint8Array, start: number): boolean {
  let at = start;
  let filled = 0;
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0;
    at++;
    const kind = tag & 3;
    const widthBytes = numberWidth(kind, tag);
    if (at + widthBytes > bytes.length) return false;
    const number = littleEndian(bytes, at, widthBytes);
    at += widthBytes;
    if (kind === 0) {
      const length = (widthBytes === 0 ? tag >> 2 : number) + 1;
      if (at + length > bytes.length || filled + length > output.length) return false;
      copyLiteral(output, filled, bytes, at, length);
      at += length;
      filled += length;
    } else {
      const offset = copyOffset(kind, tag, number);
      const continuedUntil = kind === 2 ? endOfContinued(bytes, at) : at;
      const length = copyLength(kind, tag) + lengthOfContinued(bytes, at, continuedUntil);
      at = continuedUntil;
      if (offset === 0 || offset > filled || filled + length > output.length) return false;
      copyBack(output, filled, offset, length);
      filled += length;
    }
  }
  return filled === output.length;
}

function copyLength(kind: number, tag: number): number {
  return kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
}

/**
 * How far before the end of the output the copied bytes begin. A short copy has the upper three bits of the offset in its
 * tag.
 */
function copyOffset(kind: number, tag: number, number: number): number {
  return kind === 1 ? number + ((tag >> 5) << 8) : number;
}

/** Number of bytes that follow a tag: those of a long literal's length, or of a copy's offset. */
function numberWidth(kind: number, tag: number): number {
  if (kind === 0) return Math.max(0, (tag >> 2) - 59);
  return kind === 3 ? 4 : kind;
}

/**
 * End of the consecutive copies with the same two-byte offset as the one that ends at `at`. An element copies 64 bytes at
 * most, so a long run, such as of zeros, is a row of them, which this merges into one copy.
 */
function endOfContinued(bytes: Uint8Array, at: number): number {
  const low = bytes[at - 2];
  const high = bytes[at - 1];
  let end = at;
  while (
    end + LONG_COPY_BYTES <= bytes.length &&
    ((bytes[end] as number) & 3) === 2 &&
    bytes[end + 1] === low &&
    bytes[end + 2] === high
  )
    end += LONG_COPY_BYTES;
  return end;
}

/** Bytes that the copies between `from` and `until` produce together. */
function lengthOfContinued(bytes: Uint8Array, from: number, until: number): number {
  let length = 0;
  for (let at = from; at < until; at += LONG_COPY_BYTES) length += ((bytes[at] as number) >> 2) + 1;
  return length;
}

/** Encoded bytes of a copy with two bytes of offset. */
const LONG_COPY_BYTES = 3;

/**
 * Shortest bulk copy: its call costs as much as copying some dozens of bytes one by one, and hostile input consists of short
 * pieces.
 */
const MIN_BULK_COPY_BYTES = 48;

function copyLiteral(output: Uint8Array, at: number, bytes: Uint8Array, from: number, length: number): void {
  if (length > MIN_BULK_COPY_BYTES) output.set(bytes.subarray(from, from + length), at);
  else for (let index = 0; index < length; index++) output[at + index] = bytes[from + index] ?? 0;
}

/** Copies bytes of the output. The source may overlap the destination: the bytes between then repeat. */
function copyBack(output: Uint8Array, at: number, offset: number, length: number): void {
  if (offset >= length && length > MIN_BULK_COPY_BYTES)
    output.copyWithin(at, at - offset, at - offset + length);
  else if (length >= MIN_REPEATED_BYTES) repeat(output, at, offset, length);
  else for (let index = at; index < at + length; index++) output[index] = output[index - offset] ?? 0;
}

/** Repeats the last `offset` bytes. Each copy doubles the repeated part, which stays a multiple of them until the last copy. */
function repeat(output: Uint8Array, at: number, offset: number, length: number): void {
  const from = at - offset;
  for (let copied = 0; copied < length; ) {
    const piece = Math.min(offset + copied, length - copied);
    output.copyWithin(at + copied, from, from + piece);
    copied += piece;
  }
}

/** Shortest run for which bulk copies cost less than its bytes one by one. */
const MIN_REPEATED_BYTES = 512;

function littleEndian(bytes: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let index = width - 1; index >= 0; index--) value = value * 256 + (bytes[at + index] ?? 0);
  return value;
}

/** Reads a varint of at most 32 bits. */
function readLength(bytes: Uint8Array): { length: number; from: number } | undefined {
  let length = 0;
  for (let index = 0; index < 5; index++) {
    const byte = bytes[index];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return length < 2 ** 32 ? { length, from: index + 1 } : undefined;
  }
  return undefined;
}
