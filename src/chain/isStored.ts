import { equalBytes } from "../primitives/hex.ts";
import { isWithin } from "../storage/historyStart.ts";
import type { NamedBlock } from "../types/block.ts";
import type { ChainReader } from "./chainReader.ts";

/** Whether the chain still has the whole block: a rewind, or its age, may have removed it while its parts were read. */
export function isStored(
  chain: Pick<ChainReader, "headerByNumber" | "historyStart">,
  { header, hash }: Pick<NamedBlock, "header" | "hash">,
): boolean {
  const stored = chain.headerByNumber(header.number);
  return stored !== undefined && equalBytes(stored.hash, hash) && isWithin(chain.historyStart, header.number);
}
