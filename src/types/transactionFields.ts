import { bytesToBigint } from "../primitives/quantity.ts";
import { type RlpSpan, rlpMembers } from "../primitives/rlp.ts";

/** Strict readers of a transaction's RLP fields; all throw RangeError for input that does not fit. */

/** A string's bytes, or the encoding of a list that is not decoded yet. */
export type Field = Uint8Array | { readonly list: Uint8Array };

export type Fields = readonly Field[];

/** One object for all empty lists. */
export const NO_ENTRIES: readonly never[] = [];

/** The members of a list of exactly `count`; stops reading at the first surplus member. */
export function fields(bytes: Uint8Array, count: number, what: string): Fields {
  const found: Field[] = [];
  for (const span of rlpMembers(bytes)) {
    if (found.length === count) throw new RangeError(`${what} has ${count} fields, not more`);
    found.push(fieldAt(bytes, span));
  }
  if (found.length !== count) throw new RangeError(`${what} does not have ${found.length} fields`);
  return found;
}

function fieldAt(bytes: Uint8Array, { isList, start, from, until }: RlpSpan): Field {
  return isList ? { list: bytes.subarray(start, until) } : bytes.subarray(from, until);
}

/** Decodes member by member: untrusted peers send this, so decoding stops at the first wrong member. */
export function listOf<T>(field: Field | undefined, what: string, read: (member: Fields) => T): readonly T[] {
  const list = listBytes(field, what);
  if (list.length === 1) return NO_ENTRIES;
  const entries: T[] = [];
  for (const span of rlpMembers(list)) entries.push(read([fieldAt(list, span)]));
  return entries;
}

export function listBytes(field: Field | undefined, what: string): Uint8Array {
  if (field === undefined || field instanceof Uint8Array) throw new RangeError(`${what} must be a list`);
  return field.list;
}

export function bytesAt(items: Fields, index: number): Uint8Array {
  const item = items[index];
  if (!(item instanceof Uint8Array)) throw new RangeError(`field ${index} must be bytes`);
  return item;
}

export function scalar(items: Fields, index: number, maxBytes = 32): bigint {
  const bytes = bytesAt(items, index);
  if (bytes.length > maxBytes) throw new RangeError(`field ${index} is longer than ${maxBytes} bytes`);
  if (bytes[0] === 0) throw new RangeError(`field ${index} has leading zeros`);
  return bytesToBigint(bytes);
}
