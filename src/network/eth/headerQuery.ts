import { encodeRlpIndex, encodeRlpList, encodeRlpString } from "../../primitives/rlp.ts";
import type { HeaderQuery } from "./messages.ts";
import { hashOf, scalarOf, stringOf, tupleOf } from "./wireReader.ts";
import { encodeScalar } from "./wireWriter.ts";

/** Codec of the query in a GetBlockHeaders message (p2p.md#eth-messages). */
export function encodeHeaderQuery({ start, max, skip, isReverse }: HeaderQuery): Uint8Array {
  return encodeRlpList([
    "hash" in start ? encodeRlpString(start.hash) : encodeScalar(start.number),
    encodeRlpIndex(max),
    encodeRlpIndex(skip),
    encodeRlpIndex(isReverse ? 1 : 0),
  ]);
}

/** Reads a query; throws RangeError. */
export function readHeaderQuery(body: Uint8Array): HeaderQuery {
  const [start, max, skip, reverse] = tupleOf(body, 4);
  const direction = scalarOf(reverse, 1);
  if (direction > 1n) throw new RangeError("a direction is 0 or 1");
  return {
    start: stringOf(start).length === 32 ? { hash: hashOf(start) } : { number: scalarOf(start, 8) },
    max: Number(scalarOf(max, 4)),
    skip: Number(scalarOf(skip, 4)),
    isReverse: direction === 1n,
  };
}
