import type { BlockProduction } from "../../chain/blockProduction.ts";
import type { CandidateSettings } from "../../chain/candidates.ts";
import type { Settings } from "../../config/settings.ts";
import type { PauseReasons } from "../../consensus/pauseReasons.ts";
import type { Logger } from "../../observability/logger.ts";
import type { RpcMining } from "../../rpc/core/coreParts.ts";
import type { NodeKey } from "../keys/nodeKey.ts";

/** The operator's settings for our blocks, from the configuration and over JSON-RPC; the chain reads them for each block. */
export interface BlockControls {
  readonly candidates: CandidateSettings;
  readonly production: BlockProduction;
  /** Vanity bytes of our blocks' extra data, exactly 32, and the gas limit that they approach. */
  readonly changeable: Pick<RpcMining, "extraData" | "targetGasLimit">;
  /** The settings that miner_… methods change. */
  mining(pauseReasons: PauseReasons, logger: Logger): RpcMining;
}

export function createBlockControls(
  {
    blockProduction,
    keepsRevertReasons,
    rpc,
  }: Pick<Settings, "blockProduction" | "keepsRevertReasons" | "rpc">,
  { address: builder }: Pick<NodeKey, "address">,
): BlockControls {
  const { selectionTimePercent, minOccupancyRatio, maxBlockBytes, vanity, targetGasLimit } = blockProduction;
  const changeable: Changeable = { extraData: vanity, targetGasLimit, coinbase: rpc.coinbase ?? builder };
  return {
    candidates: {
      builder,
      get vanity() {
        return changeable.extraData;
      },
    },
    production: {
      selectionTimePercent,
      minOccupancyRatio,
      maxBlockBytes,
      keepsRevertReasons,
      get targetGasLimit() {
        return changeable.targetGasLimit;
      },
    },
    changeable,
    mining: (pauseReasons, logger) => createMining(changeable, pauseReasons, logger),
  };
}

/** What the operator can change while the node runs. */
type Changeable = Pick<RpcMining, "extraData" | "targetGasLimit"> & { coinbase: RpcMining["coinbase"] };

function createMining(changeable: Changeable, pauseReasons: PauseReasons, logger: Logger): RpcMining {
  let hasWarnedOfCoinbase = false;
  return {
    start() {
      if (pauseReasons.reasons.includes("operator")) logger.info({}, "miner_start resumes block production");
      pauseReasons.resume("operator");
    },
    stop() {
      logger.warn({}, "miner_stop: this node neither proposes nor votes until miner_start");
      pauseReasons.pause("operator");
    },
    get extraData() {
      return changeable.extraData;
    },
    set extraData(bytes) {
      changeable.extraData = bytes;
    },
    get targetGasLimit() {
      return changeable.targetGasLimit;
    },
    set targetGasLimit(gas) {
      changeable.targetGasLimit = gas;
    },
    get coinbase() {
      return changeable.coinbase;
    },
    setCoinbase(address) {
      changeable.coinbase = address;
      if (!hasWarnedOfCoinbase)
        logger.warn(
          { coinbase: address },
          "miner_setCoinbase only changes the answer of eth_coinbase, until the restart: a block's coinbase is its " +
            "proposer, and the genesis file names who is paid",
        );
      hasWarnedOfCoinbase = true;
    },
  };
}
