import type { BlockProduction } from "../chain/blockExecution.ts";
import type { CandidateSettings } from "../chain/candidates.ts";
import type { Settings } from "../config/settings.ts";
import type { Logger } from "../observability/logger.ts";
import type { RpcMining } from "../rpc/ports.ts";
import type { NodeKey } from "./nodeKey.ts";
import type { PauseReasons } from "./pauseReasons.ts";

/** The operator's settings for our blocks, from the configuration and over JSON-RPC; the chain reads them for each block. */
export interface BlockControls {
  readonly candidates: CandidateSettings;
  readonly production: BlockProduction;
  /** The settings that miner_… methods change. */
  mining(pauseReasons: PauseReasons, logger: Logger): RpcMining;
}

export function createBlockControls(
  {
    blockProduction,
    keepsRevertReasons,
    rpc,
  }: Pick<Settings, "blockProduction" | "keepsRevertReasons" | "rpc">,
  { address: builder }: NodeKey,
): BlockControls {
  const { selectionTimePercent, minOccupancyRatio, maxBlockBytes } = blockProduction;
  let { vanity, targetGasLimit } = blockProduction;
  let coinbase = rpc.coinbase ?? builder;
  let hasWarnedOfCoinbase = false;
  return {
    candidates: {
      builder,
      get vanity() {
        return vanity;
      },
    },
    production: {
      selectionTimePercent,
      minOccupancyRatio,
      maxBlockBytes,
      keepsRevertReasons,
      get targetGasLimit() {
        return targetGasLimit;
      },
    },
    mining: (pauseReasons, logger) => ({
      start() {
        if (pauseReasons.reasons.includes("operator"))
          logger.info({}, "miner_start resumes block production");
        pauseReasons.resume("operator");
      },
      stop() {
        logger.warn({}, "miner_stop: this node neither proposes nor votes until miner_start");
        pauseReasons.pause("operator");
      },
      get extraData() {
        return vanity;
      },
      set extraData(bytes) {
        vanity = bytes;
      },
      get targetGasLimit() {
        return targetGasLimit;
      },
      set targetGasLimit(gas) {
        targetGasLimit = gas;
      },
      get coinbase() {
        return coinbase;
      },
      setCoinbase(address) {
        coinbase = address;
        if (!hasWarnedOfCoinbase)
          logger.warn(
            { coinbase: address },
            "miner_setCoinbase only changes the answer of eth_coinbase, until the restart: a block's coinbase is its " +
              "proposer, and the genesis file names who is paid",
          );
        hasWarnedOfCoinbase = true;
      },
    }),
  };
}
