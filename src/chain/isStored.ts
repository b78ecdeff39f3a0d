import { equalBytes } from "../primitives/hex.ts";
import type { NamedBlock } from "../types/block.ts";
import type { ChainReader } from "./chain.ts";

/** Whether the chain still has a block, which a rewind may have removed while its parts were read. */
export function isStored(
  chain: Pick<ChainReader, "headerByNumber">,
  { header, hash }: Pick<NamedBlock, "header" | "hash">,
): boolean {
  const stored = chain.headerByNumber(header.number);
  return stored !== undefined && equalBytes(stored.hash, hash);
}
