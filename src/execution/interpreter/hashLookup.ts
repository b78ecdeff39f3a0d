import type { EVM } from "@ethereumjs/evm";
import { ZERO_HASH } from "../../primitives/hash.ts";
import type { BlockContext } from "../blockContext.ts";

/** Serves BLOCKHASH behind the library's interface for a chain. */
export function hashLookup(block: BlockContext): EVM["blockchain"] {
  const lookup: EVM["blockchain"] = {
    async getBlock(number) {
      const hash = block.hashOf(BigInt(number)) ?? ZERO_HASH;
      return { hash: () => hash };
    },
    putBlock: () => Promise.reject(new TypeError("code does not store blocks")),
    shallowCopy: () => lookup,
  };
  return lookup;
}
