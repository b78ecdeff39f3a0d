import { asHash, type Hash } from "../../primitives/hash.ts";

/** The hashes that were pushed last, in order, under places that never repeat. Older ones fall off the far end. */
export interface HashHistory {
  push(hash: Hash): void;
  /** The place that the next hash will take. */
  readonly end: bigint;
  /** The hashes from a place on; undefined when some of them have fallen off. */
  since(place: bigint): readonly Hash[] | undefined;
}

/** Hashes kept: at 4,000 transactions a second what a minute brings, in 8 MB. */
const CAPACITY = 262_144;
const HASH_BYTES = 32;

export function createHashHistory(capacity: number = CAPACITY): HashHistory {
  const bytes = new Uint8Array(capacity * HASH_BYTES);
  let end = 0;

  function at(place: number): Hash {
    const offset = (place % capacity) * HASH_BYTES;
    return asHash(bytes.slice(offset, offset + HASH_BYTES));
  }

  return {
    push(hash) {
      bytes.set(hash, (end % capacity) * HASH_BYTES);
      end++;
    },
    get end() {
      return BigInt(end);
    },
    since(place) {
      const first = Number(place);
      if (end - first > capacity) return undefined;
      return Array.from({ length: end - first }, (_, index) => at(first + index));
    },
  };
}
