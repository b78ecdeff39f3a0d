import type { ChainReader } from "../chain/chainReader.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { DatabaseReads } from "../storage/database.ts";
import { type Mark, marksOf, readRecentMark } from "./layout.ts";

/**
 * The newest block, `last` or earlier, that is in the index and on the chain, according to the index's marks; undefined when
 * there is none. Usually only one header is compared.
 */
export async function commonBlock(
  database: Pick<DatabaseReads, "get" | "range">,
  chain: Pick<ChainReader, "headerByNumber" | "head">,
  last: number,
): Promise<number | undefined> {
  const isOnChain = ({ number, hash }: Mark): boolean => {
    const found = chain.headerByNumber(BigInt(number));
    return found !== undefined && equalBytes(found.hash, hash);
  };
  const newest = Math.min(last, Number(chain.head.header.number));
  const mark = readRecentMark(database, newest);
  if (mark !== undefined && isOnChain(mark)) return newest;
  for (const each of await marksOf(database))
    if (each.number <= newest && isOnChain(each)) return each.number;
  return undefined;
}
