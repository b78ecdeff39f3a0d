/**
 * The RLP codec. Encodes whole items, or from parts that are already encoded; decodes without copies, one level deep (block
 * bodies, trie nodes, transactions) or as deep as the caller expects. The depth is always bounded, because a megabyte of
 * nested lists costs an unbounded decoder a minute (@ethereumjs/rlp, the second opinion in tests).
 */

/** A byte string, or a list. */
export type RlpItem = Uint8Array | readonly RlpItem[];

/** RLP of an item. Recursive, so only for items whose depth is known. */
export function encodeRlp(item: RlpItem): Uint8Array {
  return item instanceof Uint8Array ? encodeRlpString(item) : encodeRlpList(item.map(encodeRlp));
}

/** RLP of a byte string. */
export function encodeRlpString(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  if (length === 1 && (bytes[0] ?? 0) < 0x80) return bytes;
  const prefixed = withPrefix(length, 0x80);
  prefixed.set(bytes, prefixed.length - length);
  return prefixed;
}

/** Length in bytes of the result of encodeRlpString. */
export function rlpStringSize(bytes: Uint8Array): number {
  const { length } = bytes;
  return length === 1 && (bytes[0] ?? 0) < 0x80 ? 1 : prefixLength(length) + length;
}

/** Length in bytes of a list whose members have `payloadLength` bytes together. */
export function rlpListSize(payloadLength: number): number {
  return prefixLength(payloadLength) + payloadLength;
}

/** Writes the RLP of a byte string to `into` from `at` on; returns the index after it. */
export function writeRlpString(into: Uint8Array, at: number, bytes: Uint8Array): number {
  const { length } = bytes;
  if (length === 1 && (bytes[0] ?? 0) < 0x80) {
    into[at] = bytes[0] ?? 0;
    return at + 1;
  }
  const from = writePrefix(into, at, length, 0x80);
  into.set(bytes, from);
  return from + length;
}

/** Writes the prefix of a byte string of `length` bytes, at least two; returns the index after it. */
export function writeRlpStringPrefix(into: Uint8Array, at: number, length: number): number {
  return writePrefix(into, at, length, 0x80);
}

/** Writes the prefix of a list whose members have `payloadLength` bytes together; returns the index after it. */
export function writeRlpListPrefix(into: Uint8Array, at: number, payloadLength: number): number {
  return writePrefix(into, at, payloadLength, 0xc0);
}

/** RLP of a list whose members are encoded already. */
export function encodeRlpList(members: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const member of members) length += member.length;
  const list = withPrefix(length, 0xc0);
  let at = list.length - length;
  for (const member of members) {
    list.set(member, at);
    at += member.length;
  }
  return list;
}

/** The prefix of a payload: `base` is 0x80 for strings, 0xc0 for lists. A single byte below 0x80 must have none. */
export function rlpPrefix(length: number, base: 0x80 | 0xc0): Uint8Array {
  const prefix = new Uint8Array(prefixLength(length));
  writePrefix(prefix, 0, length, base);
  return prefix;
}

/** A prefix with room for its payload after it. */
function withPrefix(length: number, base: 0x80 | 0xc0): Uint8Array {
  const bytes = new Uint8Array(prefixLength(length) + length);
  writePrefix(bytes, 0, length, base);
  return bytes;
}

/** Returns the index after the prefix. */
function writePrefix(bytes: Uint8Array, start: number, length: number, base: 0x80 | 0xc0): number {
  if (length < 56) {
    bytes[start] = base + length;
    return start + 1;
  }
  const last = start + prefixLength(length) - 1;
  bytes[start] = base + 55 + last - start;
  for (let at = last, rest = length; at > start; at--, rest = Math.floor(rest / 256)) bytes[at] = rest % 256;
  return last + 1;
}

function prefixLength(length: number): number {
  if (length < 56) return 1;
  let count = 1;
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) count++;
  return count;
}

/** RLP of a whole number below 2^53, such as the index of a transaction. */
export function encodeRlpIndex(index: number): Uint8Array {
  if (index > 0 && index < 0x80) return Uint8Array.of(index);
  let length = 0;
  for (let rest = index; rest > 0; rest = Math.floor(rest / 256)) length++;
  const bytes = new Uint8Array(1 + length);
  bytes[0] = 0x80 + length;
  for (let at = length, rest = index; at > 0; at--, rest = Math.floor(rest / 256)) bytes[at] = rest % 256;
  return bytes;
}

/** Location of an item: its payload is bytes[from..until), its whole encoding begins at `start`. */
export interface RlpSpan {
  readonly isList: boolean;
  readonly start: number;
  readonly from: number;
  readonly until: number;
}

/** Members of the list that fills `bytes` exactly; throws RangeError for anything that is not canonical RLP. */
export function readRlpList(bytes: Uint8Array): RlpSpan[] {
  return membersOf(bytes, readListSpan(bytes));
}

/** Like readRlpList, for the list at the beginning of `bytes`: ignores the bytes after it (EIP-8). */
export function readLeadingRlpList(bytes: Uint8Array): RlpSpan[] {
  const list = readRlpSpan(bytes, 0, bytes.length);
  if (!list.isList) throw new RangeError("not a list");
  return membersOf(bytes, list);
}

function membersOf(bytes: Uint8Array, list: RlpSpan): RlpSpan[] {
  const members: RlpSpan[] = [];
  for (let at = list.from; at < list.until; ) {
    const member = readRlpSpan(bytes, at, list.until);
    members.push(member);
    at = member.until;
  }
  return members;
}

/** Like readRlpList, but lazy: for long lists where the caller may need only the first members. */
export function* rlpMembers(bytes: Uint8Array): Generator<RlpSpan> {
  const list = readListSpan(bytes);
  for (let at = list.from; at < list.until; ) {
    const member = readRlpSpan(bytes, at, list.until);
    yield member;
    at = member.until;
  }
}

/**
 * Decodes the item that fills `bytes` exactly, with lists nested at most `depth` deep: 1 for a list of strings. Strings
 * are views of `bytes`. Throws RangeError for deeper nesting, and for anything that is not canonical RLP.
 */
export function readRlp(bytes: Uint8Array, depth: number): RlpItem {
  const item = readRlpSpan(bytes, 0, bytes.length);
  if (item.until !== bytes.length) throw new RangeError("bytes after the item");
  return itemAt(bytes, item, depth);
}

/** The byte string that fills `bytes` exactly, as a view; throws RangeError for a list, and where readRlp does. */
export function readRlpString(bytes: Uint8Array): Uint8Array {
  const { isList, from, until } = readRlpSpan(bytes, 0, bytes.length);
  if (isList) throw new RangeError("a list instead of bytes");
  if (until !== bytes.length) throw new RangeError("bytes after the item");
  return bytes.subarray(from, until);
}

function itemAt(bytes: Uint8Array, { isList, from, until }: RlpSpan, depth: number): RlpItem {
  if (!isList) return bytes.subarray(from, until);
  if (depth === 0) throw new RangeError("a list is nested too deep");
  const members: RlpItem[] = [];
  for (let at = from; at < until; ) {
    const member = readRlpSpan(bytes, at, until);
    members.push(itemAt(bytes, member, depth - 1));
    at = member.until;
  }
  return members;
}

/** The list that fills `bytes` exactly. */
function readListSpan(bytes: Uint8Array): RlpSpan {
  const list = readRlpSpan(bytes, 0, bytes.length);
  if (!list.isList) throw new RangeError("not a list");
  if (list.until !== bytes.length) throw new RangeError("bytes after the list");
  return list;
}

/**
 * The item that begins at `start` and must end by `limit`; throws RangeError when it does not, or is not canonical. Fills
 * `span`, if given, which saves an object for each item of a list.
 */
export function readRlpSpan(
  bytes: Uint8Array,
  start: number,
  limit: number,
  span: MutableSpan = { isList: false, start: 0, from: 0, until: 0 },
): RlpSpan {
  const lead = byteAt(bytes, start, limit);
  const isList = lead >= 0xc0;
  const shortLength = lead - (isList ? 0xc0 : 0x80);
  span.isList = isList;
  span.start = start;
  if (lead < 0x80) {
    span.from = start;
    span.until = start + 1;
    return span;
  }
  if (shortLength < 56) {
    span.from = start + 1;
    span.until = start + 1 + shortLength;
  } else {
    const lengthBytes = shortLength - 55;
    span.from = start + 1 + lengthBytes;
    span.until = span.from + longLength(bytes, start + 1, lengthBytes, limit);
  }
  if (span.until > limit) throw new RangeError("an item reaches beyond its list");
  if (!isList && shortLength === 1 && byteAt(bytes, start + 1, limit) < 0x80)
    throw new RangeError("a single byte below 0x80 stands for itself");
  return span;
}

type MutableSpan = { -readonly [Key in keyof RlpSpan]: RlpSpan[Key] };

function longLength(bytes: Uint8Array, at: number, lengthBytes: number, limit: number): number {
  if (lengthBytes > 6 || byteAt(bytes, at, limit) === 0)
    throw new RangeError("a length that is not canonical");
  let length = 0;
  for (let next = at; next < at + lengthBytes; next++) length = length * 256 + byteAt(bytes, next, limit);
  if (length < 56) throw new RangeError("a length that is not canonical");
  return length;
}

function byteAt(bytes: Uint8Array, at: number, limit: number): number {
  const byte = at < limit ? bytes[at] : undefined;
  if (byte === undefined) throw new RangeError("the bytes end too early");
  return byte;
}
