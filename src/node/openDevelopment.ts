import type { Chain } from "../chain/createChain.ts";
import { parametersAt } from "../chainspec/ibftParameters.ts";
import { Development } from "../dev/development.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { BlockControls } from "./miningSettings.ts";
import type { OpenContext, Stores } from "./openStores.ts";

/** The comforts of the development network; undefined where they are not to be used. */
export function openDevelopment(
  { settings, logger, clock, onStop }: OpenContext,
  { key, development: folder }: Pick<Stores, "key" | "development">,
  {
    chain,
    controls,
    pool,
  }: { readonly chain: Chain; readonly controls: BlockControls; readonly pool: TxPool },
): Development | undefined {
  if (settings.development === undefined || folder === undefined) return undefined;
  const { blockPeriodSeconds } = parametersAt(settings.chainSpec.ibft, chain.head.header.number + 1n);
  const development = new Development({
    dataPath: settings.dataPath,
    marked: folder.marked,
    chain,
    pool,
    validator: key,
    vanity: () => controls.candidates.vanity,
    blockPeriodMs: blockPeriodSeconds * 1000,
    isInstant: settings.development.isInstant,
    clock,
    random: Math.random,
    logger: logger.child("chain"),
  });
  onStop(() => development.close());
  return development;
}
