import { toKey } from "../primitives/byteKey.ts";
import type { NamedBlock } from "../types/block.ts";
import { memoryOfBlock } from "../types/memory.ts";

/** Blocks that failed validation, kept for debug_getBadBlocks. */
export interface BadBlocks {
  /** Keeps the first block of each chain hash: others with that hash differ only in round and seals. */
  keep(block: NamedBlock): void;
  /** Oldest first. */
  all(): readonly NamedBlock[];
}

/** As many as Besu keeps. */
const KEPT_BLOCKS = 100;
/** Bounds memory: any peer may send bad blocks, and large ones. */
const KEPT_BYTES = 32 * 1024 * 1024;

export function createBadBlocks(): BadBlocks {
  const kept = new Map<string, { readonly block: NamedBlock; readonly bytes: number }>();
  let bytes = 0;

  function dropOldest(): void {
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
      dropOldest();
    },
    all: () => [...kept.values()].map(({ block }) => block),
  };
}
