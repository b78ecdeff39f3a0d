import { toKey } from "../primitives/byteKey.ts";
import type { NamedBlock } from "../types/block.ts";
import { memoryOfBlock } from "../types/memory.ts";

/** Number of blocks kept, as in Besu. */
const KEPT_BLOCKS = 100;
/** Most bytes of kept blocks: any peer may send bad blocks, and large ones. */
const KEPT_BYTES = 32 * 1024 * 1024;

/** Blocks that failed validation, kept for debug_getBadBlocks. */
export class BadBlocks {
  private readonly kept = new Map<string, { readonly block: NamedBlock; readonly bytes: number }>();
  private bytes = 0;

  /** Keeps the first block of each chain hash: others with that hash differ only in round and seals. */
  keep(block: NamedBlock): void {
    const key = toKey(block.hash);
    if (this.kept.has(key)) return;
    const size = memoryOfBlock(block);
    this.kept.set(key, { block, bytes: size });
    this.bytes += size;
    this.dropOldest();
  }

  /** All bad blocks, the oldest first. */
  all(): readonly NamedBlock[] {
    return [...this.kept.values()].map(({ block }) => block);
  }

  private dropOldest(): void {
    for (const [key, oldest] of this.kept) {
      if (this.kept.size <= KEPT_BLOCKS && this.bytes <= KEPT_BYTES) return;
      this.kept.delete(key);
      this.bytes -= oldest.bytes;
    }
  }
}
