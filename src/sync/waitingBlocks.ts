import type { Hash } from "../primitives/hash.ts";
import { equalBytes, toKey } from "../primitives/hex.ts";
import { MAX_WAITING_BLOCKS, MAX_WAITING_BLOCKS_OF_PEER } from "./limits.ts";
import type { OfferedBlock } from "./ports.ts";

/**
 * Announced blocks until their parent is the head. One block may wait several times, from several peers: its copies have
 * seals of their own, and not all of them need to be good.
 */
export interface WaitingBlocks {
  /** False when too many wait. */
  add(offered: OfferedBlock): boolean;
  /** The first whose parent this is, taken out. */
  takeChildOf(parent: Hash): OfferedBlock | undefined;
  /** Lets go of what is no higher than `number`. */
  dropUpTo(number: bigint): void;
}

export function createWaitingBlocks(): WaitingBlocks {
  const blocks = new Map<string, OfferedBlock>();
  return {
    add(offered) {
      const key = `${toKey(offered.hash)} ${offered.peer}`;
      const ofPeer = [...blocks.values()].filter(({ peer }) => peer === offered.peer).length;
      if (ofPeer >= MAX_WAITING_BLOCKS_OF_PEER || blocks.size >= MAX_WAITING_BLOCKS) return false;
      blocks.set(key, offered);
      return true;
    },
    takeChildOf(parent) {
      for (const [key, offered] of blocks) {
        if (!equalBytes(offered.block.header.parentHash, parent)) continue;
        blocks.delete(key);
        return offered;
      }
      return undefined;
    },
    dropUpTo(number) {
      for (const [key, { block }] of blocks) if (block.header.number <= number) blocks.delete(key);
    },
  };
}
