import { asHash, type Hash } from "../../primitives/hash.ts";
import { bytesToBigint } from "../../primitives/quantity.ts";
import { readRlpString, rlpMembers } from "../../primitives/rlp.ts";

/**
 * Strict RLP readers for untrusted input, which read no further than needed; all throw RangeError for input that does
 * not fit.
 */

/** The encodings of a list's members; fails once a list has more than `limit`. */
export function membersOf(list: Uint8Array, limit: number): Uint8Array[] {
  const members: Uint8Array[] = [];
  for (const { start, until } of rlpMembers(list)) {
    if (members.length === limit) throw new RangeError(`a list of more than ${limit}`);
    members.push(list.subarray(start, until));
  }
  return members;
}

/** Like `membersOf`, for a list of exactly `count` members. */
export function tupleOf(list: Uint8Array, count: number): Uint8Array[] {
  const members = membersOf(list, count);
  if (members.length !== count) throw new RangeError(`a list of ${members.length}, not ${count}`);
  return members;
}

export function stringOf(part: Uint8Array | undefined): Uint8Array {
  if (part === undefined) throw new RangeError("an item is missing");
  return readRlpString(part);
}

export function scalarOf(part: Uint8Array | undefined, maxBytes: number): bigint {
  const digits = stringOf(part);
  if (digits.length > maxBytes) throw new RangeError(`a number of more than ${maxBytes} bytes`);
  if (digits[0] === 0) throw new RangeError("a number with leading zeros");
  return bytesToBigint(digits);
}

export function hashOf(part: Uint8Array | undefined): Hash {
  return asHash(stringOf(part));
}

export function hashesOf(list: Uint8Array, limit: number): Hash[] {
  return membersOf(list, limit).map(hashOf);
}

/** The first hashes, at most `most`, of a list of at most `limit`; copied, so that the rest of the list can be freed. */
export function firstHashesOf(
  list: Uint8Array,
  { limit, most }: { readonly limit: number; readonly most: number },
): Hash[] {
  const hashes: Hash[] = [];
  let count = 0;
  for (const { start, until } of rlpMembers(list)) {
    if (count++ === limit) throw new RangeError(`a list of more than ${limit}`);
    const hash = hashOf(list.subarray(start, until));
    if (hashes.length < most) hashes.push(asHash(Uint8Array.from(hash)));
  }
  return hashes;
}

/** The parts of [request id, body], the shape of every request and response; the body is not read. */
export function withoutRequestId(payload: Uint8Array): {
  readonly requestId: bigint;
  readonly body: Uint8Array;
} {
  const [requestId, body] = tupleOf(payload, 2);
  if (body === undefined) throw new RangeError("a request or response without a body");
  return { requestId: scalarOf(requestId, 32), body };
}
