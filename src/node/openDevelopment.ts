import { parametersAt } from "../chainspec/ibftParameters.ts";
import { DEV_WALLET } from "../config/devNetwork.ts";
import type { Development } from "../dev/development.ts";
import type { Wallet } from "../dev/wallet.ts";
import type { ChainAndPool } from "./openChainAndPool.ts";
import type { OpenContext } from "./openContext.ts";
import type { ConsensusAndPeers } from "./openNetwork.ts";
import type { Stores } from "./openStores.ts";

/** The comforts of the development network, and its accounts; undefined where they are not to be used. */
export interface OpenDevelopment {
  readonly development: Development | undefined;
  readonly wallet: Wallet | undefined;
}

export async function openDevelopment(
  node: OpenContext & Stores & ChainAndPool & ConsensusAndPeers,
): Promise<OpenDevelopment> {
  const { settings, logger, clock, openParts, key, developmentFolder: folder } = node;
  const { chain, controls } = node;
  const { engine, pauseReasons } = node.consensus;
  const { pool, admission } = node.txPool;
  if (settings.development === undefined || folder === undefined)
    return { development: undefined, wallet: undefined };
  // No other network loads them.
  const { Development } = await import("../dev/development.ts");
  const { Wallet } = await import("../dev/wallet.ts");
  const { blockPeriodSeconds } = parametersAt(settings.chainSpec.ibft, chain.head.header.number + 1n);
  const development = openParts.add(
    new Development({
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
      stopConsensus() {
        pauseReasons.pause("development");
        return engine.stopWhenPaused();
      },
      whyHalted: () => pauseReasons.haltOfDevelopment,
      onFailure: engine.fail,
    }),
  );
  admission.answerAfter(() => development.whenMined());
  const wallet = new Wallet(DEV_WALLET, {
    nextNonce: (address) => pool.nextNonce(address),
    submit: (raw, sender) => admission.submit(raw, sender),
    sendAs: (raw, sender) => development.sendAs(raw, sender),
    isMinedUnasked: () => development.isModeDefault,
  });
  return { development, wallet };
}
