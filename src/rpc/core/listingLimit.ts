import type { Transaction } from "../../types/transaction.ts";

/** Longest JSON text of a pool listing. */
export const LISTING_BYTES = 32 * 1024 * 1024;

/** Longest text of a transaction's members besides its input and its lists, `publicKey` and the name of `raw` included. */
const MEMBERS_BYTES = 1_400;
/** Characters for each byte of the encoding: an item of an access list without storage keys has the most. */
const LIST_FACTOR = 4;

/** No less than the length of the transaction as JSON text, without making it. */
export function shownBytes({ raw, data }: Pick<Transaction, "raw" | "data">): number {
  return MEMBERS_BYTES + 2 * data.length + LIST_FACTOR * (raw.length - data.length);
}

/**
 * Decides what a listing of these sizes shows within the limit: the shortest first, so that the fewest are left out. Sizes
 * count by their powers of two, so this takes two passes and no sorting. Each size is to be asked for once.
 */
export function shortestWithin(limitBytes: number, sizes: Iterable<number>): (bytes: number) => boolean {
  const sums = new Array<number>(CLASSES).fill(0);
  for (const bytes of sizes) sums[classOf(bytes)] = (sums[classOf(bytes)] ?? 0) + bytes;
  let left = limitBytes;
  let whole = 0;
  for (const sum of sums) {
    if (sum > left) break;
    left -= sum;
    whole++;
  }
  return (bytes) => {
    const own = classOf(bytes);
    if (own < whole) return true;
    if (own > whole || bytes > left) return false;
    left -= bytes;
    return true;
  };
}

const CLASSES = 33;

function classOf(bytes: number): number {
  return CLASSES - 1 - Math.clz32(bytes);
}
