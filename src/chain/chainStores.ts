import type { WorldState } from "../state/worldState.ts";
import type { BlockStore } from "../storage/blocks/blockStore.ts";
import type { Database } from "../storage/database.ts";
import type { HeadMarker } from "../storage/headMarker.ts";

/** The stores that hold committed blocks and states. */
export interface ChainStores {
  readonly database: Database;
  readonly blocks: BlockStore;
  readonly world: WorldState;
  /** Records the head outside the database, before it is announced. */
  readonly headMarker: HeadMarker;
}
