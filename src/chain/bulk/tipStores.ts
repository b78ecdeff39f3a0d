import { WorldState, type WorldStateLimits } from "../../state/worldState.ts";
import { BlockStore, type BlockStoreLimits } from "../../storage/blocks/blockStore.ts";
import type { Database } from "../../storage/database.ts";
import type { ChainStores } from "../chainStores.ts";

/** The blocks are not read again, except for the hashes of the newest 256 blocks by BLOCKHASH. */
const TIP_STORE_LIMITS: BlockStoreLimits = { headers: 1024, blockBytes: 0 };

/** Stores for blocks that are committed ahead of the chain's head. They do not mark the head: that happens when it is on the disk. */
export function tipStores(database: Database, stateLimits: WorldStateLimits): ChainStores {
  return {
    database,
    blocks: new BlockStore(TIP_STORE_LIMITS, { database }),
    world: new WorldState({ database }, stateLimits),
    headMarker: { record: () => undefined, lower: () => undefined },
  };
}
