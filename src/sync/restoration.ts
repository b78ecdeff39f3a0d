import type { Hash } from "../primitives/hash.ts";
import { fail, type Result } from "../primitives/result.ts";
import { hashOfHeader } from "../types/blockHash.ts";
import type { LostEndSearch } from "./lostEnd.ts";
import type { SyncChain } from "./ports.ts";
import type { Sync } from "./sync.ts";

/** Wraps sync so that it is not in sync before the lost blocks are back. */
export function untilRestored(sync: Sync, lostEnd: LostEndSearch): Sync {
  return {
    ...sync,
    get isInSync() {
      return lostEnd.isRestored && sync.isInSync;
    },
    get status() {
      return sync.status;
    },
  };
}

/** Wraps the chain so that it imports nothing in the place of lost blocks but these blocks themselves. */
export function onlyAdmitted(chain: SyncChain, lostEnd: LostEndSearch): SyncChain {
  const refusal = (number: bigint, hash: Hash): Result<never> | undefined =>
    lostEnd.admits(number, hash) ? undefined : notLost(number);
  return {
    ...chain,
    get head() {
      return chain.head;
    },
    async importBlock(block) {
      if (lostEnd.isRestored) return chain.importBlock(block);
      const hash = hashOfHeader(block.header);
      if (!hash.ok) return hash;
      return refusal(block.header.number, hash.value) ?? chain.importBlock(block);
    },
    async bulkImport() {
      const bulk = await chain.bulkImport();
      return {
        get tip() {
          return bulk.tip;
        },
        get isOthersTurn() {
          return bulk.isOthersTurn;
        },
        importBlock: async (block) =>
          refusal(block.header.header.number, block.header.hash) ?? bulk.importBlock(block),
        close: () => bulk.close(),
      };
    },
  };
}

function notLost(number: bigint): Result<never> {
  const message = `block ${number} is not the one that this node has lost`;
  return fail("peer", "notLost", message);
}
