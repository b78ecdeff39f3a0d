import type { BlockProduction } from "../../chain/blockProduction.ts";
import type { CandidateSettings } from "../../chain/candidates.ts";
import type { Settings } from "../../config/settings.ts";
import type { PauseReasons } from "../../consensus/pauseReasons.ts";
import type { Logger } from "../../observability/logger.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import type { RpcMining } from "../../rpc/core/coreParts.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import type { NodeKey } from "../keys/nodeKey.ts";

/** The operator's settings for our blocks, from the configuration and over JSON-RPC; the chain reads them for each block. */
export class BlockControls {
  readonly candidates: CandidateSettings;
  readonly production: BlockProduction;
  private readonly changeable: Changeable;

  constructor(
    {
      blockProduction,
      keepsRevertReasons,
      rpc,
    }: Pick<Settings, "blockProduction" | "keepsRevertReasons" | "rpc">,
    { address: builder }: Pick<NodeKey, "address">,
  ) {
    const { selectionTimePercent, minOccupancyRatio, maxBlockBytes, vanity, targetGasLimit } =
      blockProduction;
    const changeable = { extraData: vanity, targetGasLimit, coinbase: rpc.coinbase ?? builder };
    this.changeable = changeable;
    this.candidates = {
      builder,
      get vanity() {
        return changeable.extraData;
      },
    };
    this.production = {
      selectionTimePercent,
      minOccupancyRatio,
      maxBlockBytes,
      keepsRevertReasons,
      get targetGasLimit() {
        return changeable.targetGasLimit;
      },
    };
  }

  /** Takes over a configuration that was read again, with the prices of the pool, and returns what changed in the operator's words. */
  configure(
    { blockProduction, pool: { blockFloors } }: Pick<Settings, "blockProduction" | "pool">,
    pool: Pick<TxPool, "blockFloors" | "changeBlockFloors">,
  ): string[] {
    const { changeable } = this;
    const { vanity, targetGasLimit } = blockProduction;
    const before = pool.blockFloors;
    const changes: string[] = [];
    const note = (name: string, now: unknown, was: unknown): void => {
      if (now !== was) changes.push(`${name}=${now ?? "none"} (was ${was ?? "none"})`);
    };
    note("min-gas-price", blockFloors.minGasPriceWei, before.minGasPriceWei);
    note("min-priority-fee", blockFloors.minPriorityFeeWei, before.minPriorityFeeWei);
    if (!equalBytes(changeable.extraData, vanity))
      note("miner-extra-data", shortHex(vanity), shortHex(changeable.extraData));
    note("target-gas-limit", targetGasLimit, changeable.targetGasLimit);
    pool.changeBlockFloors(blockFloors);
    changeable.extraData = vanity;
    changeable.targetGasLimit = targetGasLimit;
    return changes;
  }

  /** The settings that miner_… methods change. */
  mining(pauseReasons: Pauses, logger: Logger): RpcMining {
    return createMining(this.changeable, pauseReasons, logger);
  }
}

/** What the operator can change while the node runs: vanity bytes of extra data, exactly 32, and the gas limit that blocks approach. */
type Changeable = Pick<RpcMining, "extraData" | "targetGasLimit"> & { coinbase: RpcMining["coinbase"] };

type Pauses = Pick<PauseReasons, "reasons" | "pause" | "resume">;

/** Hex text as miner_getExtraData shows it. */
function shortHex(bytes: Uint8Array): string {
  return toHex(bytes).replace(/^0x0*/, "0x");
}

function createMining(changeable: Changeable, pauseReasons: Pauses, logger: Logger): RpcMining {
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
