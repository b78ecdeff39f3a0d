import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { fail, type Result } from "../primitives/result.ts";
import { hashOfHeader } from "../types/blockHash.ts";
import { type LostBlock, LostEndSearch } from "./lostEnd.ts";
import type { SyncChain } from "./ports.ts";
import { createSync, type Sync, type SyncParts } from "./sync.ts";

/** What a validator has lost with the end of its database, and restores before it takes part; its addresses. */
export interface LostEnd {
  readonly block: LostBlock;
  readonly addresses: readonly Address[];
}

/** Sync that knows what the node has lost. */
export interface RestoringSync extends Sync {
  /** Starts to sync, and to look for the lost blocks. What comes before is ignored. */
  begin(): void;
  /** Whether the chain has the lost blocks again; true where nothing was lost. */
  readonly isRestored: boolean;
}

/**
 * Creates a sync that restores what the node has lost (ibft2.md#a-lost-end): it fetches nothing before a peer has proven the lost
 * blocks, imports nothing in their place but these blocks themselves, and is not in sync before they are back.
 */
export function createRestoringSync(parts: SyncParts, lost: LostEnd | undefined): RestoringSync {
  const lostEnd =
    lost &&
    new LostEndSearch(lost.block, lost.addresses, {
      ...parts,
      onProven: () => sync.wake(),
    });
  let hasBegun = false;
  const sync = createSync(lostEnd === undefined ? parts : whenProven(parts, lostEnd));
  return {
    begin() {
      hasBegun = true;
      sync.wake();
      lostEnd?.begin();
    },
    wake() {
      if (!hasBegun) return;
      sync.wake();
      lostEnd?.wake();
    },
    offer(offered) {
      if (hasBegun && lostEnd?.isProven !== false) sync.offer(offered);
    },
    get isRestored() {
      return lostEnd?.isRestored !== false;
    },
    get isInSync() {
      return lostEnd?.isRestored !== false && sync.isInSync;
    },
    get status() {
      return sync.status;
    },
    onStatusChanged: sync.onStatusChanged,
    comparison: sync.comparison,
    async close() {
      lostEnd?.close();
      await sync.close();
    },
  };
}

function whenProven(parts: SyncParts, lostEnd: LostEndSearch): SyncParts {
  return {
    ...parts,
    peers: () => (lostEnd.isProven ? parts.peers() : []),
    chain: onlyAdmitted(parts.chain, lostEnd),
  };
}

/** Wraps the chain so that it imports nothing in the place of lost blocks but these blocks themselves. */
function onlyAdmitted(chain: SyncChain, lostEnd: LostEndSearch): SyncChain {
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
