import { toKey } from "../primitives/byteKey.ts";
import { memoryOfBlock, type NamedBlock } from "../types/block.ts";

/** Blocks that were refused for a flaw of their own, for whoever looks for the reason (debug_getBadBlocks). */
export interface BadBlocks {
  /** Of several under one name the first is kept: they differ in round and seals alone. */
  keep(block: NamedBlock): void;
  /** Oldest first. */
  all(): readonly NamedBlock[];
}

/** As many as the incumbent keeps. */
const KEPT_BLOCKS = 100;
/** Anyone may send bad blocks, and large ones. */
const KEPT_BYTES = 32 * 1024 * 1024;

export function createBadBlocks(): BadBlocks {
  const kept = new Map<string, { readonly block: NamedBlock; readonly bytes: number }>();
  let bytes = 0;

  function forgetOldest(): void {
    for (const [key, oldest] of kept) {
      if (kept.size <= KEPT_BLOCKS && bytes <= KEPT_BYTES) return;
      kept.delete(key);
      bytes -= oldest.bytes;
    }
  }

  return {
    keep(block) {
      const key = toKey(block.hash);
      if (kept.has(key)) return;
      const size = memoryOfBlock(block);
      kept.set(key, { block, bytes: size });
      bytes += size;
      forgetOldest();
    },
    all: () => [...kept.values()].map(({ block }) => block),
  };
}
