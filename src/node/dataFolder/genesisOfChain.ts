import { isChainOf } from "../../chain/genesisBlock.ts";
import type { Settings } from "../../config/settings.ts";
import type { BlockStore } from "../../storage/blocks/blockStore.ts";

/** The settings with the genesis file that the stored chain began with, where an earlier version shipped another one. */
export function withGenesisOfChain<T extends Pick<Settings, "chainSpec" | "genesisFile" | "formerGenesis">>(
  settings: T,
  blocks: Pick<BlockStore, "header">,
): T {
  const { formerGenesis } = settings;
  return formerGenesis !== undefined && isChainOf(formerGenesis.chainSpec, blocks)
    ? { ...settings, ...formerGenesis }
    : settings;
}
