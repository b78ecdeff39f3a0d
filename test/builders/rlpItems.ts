import { readRlpSpan } from "../../src/primitives/rlp.ts";

/** The bytes of each of the RLP items that follow one another, as the blocks in a file do. */
export function* rlpItems(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let start = 0; start < bytes.length; ) {
    const { until } = readRlpSpan(bytes, start, bytes.length);
    yield bytes.subarray(start, until);
    start = until;
  }
}
