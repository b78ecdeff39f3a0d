import { isChainOf } from "../../chain/genesisBlock.ts";
import type { Settings } from "../../config/settings.ts";
import { type Err, fail } from "../../primitives/result.ts";
import type { BlockStore } from "../../storage/blocks/blockStore.ts";

/** Says that the settings are those of another chain than the stored one, and what to do. */
export function otherGenesis(
  { genesisFile, dataPath }: Pick<Settings, "genesisFile" | "dataPath">,
  difference: string,
): Err<"differentGenesis"> {
  return fail(
    "local",
    "differentGenesis",
    `The genesis file ${genesisFile} does not match the chain stored in ${dataPath}: ${difference}. ` +
      "Give the original file with --genesis-file; or, for another chain, a folder of its own with --data-path.",
  );
}

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
