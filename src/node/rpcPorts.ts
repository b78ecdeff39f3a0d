import { createIndexReader } from "../accounts/indexReader.ts";
import { BlockArrivals } from "../chain/blockArrivals.ts";
import { baseFeeAfter } from "../chain/nextBlockView.ts";
import { createChainRewinder } from "../chain/rewindAndReplay.ts";
import type { Settings } from "../config/settings.ts";
import { LATEST_ETH_VERSION } from "../network/eth/messages.ts";
import type { RpcPorts, RpcSettings, ServiceEndpoints } from "../rpc/ports.ts";
import { resumeBytes } from "../storage/diskGuard.ts";
import { createSubmission } from "../txpool/submission.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { ChainAndPool } from "./openChainAndPool.ts";
import type { ConsensusAndPeers } from "./openNetwork.ts";
import type { OpenContext, Stores } from "./openStores.ts";
import { createNodeFacts } from "./status/nodeFacts.ts";
import { createTraceFolder } from "./traceFolder.ts";

/** Creates the ports through which JSON-RPC methods use the node. `services` tells which servers are open. */
export function createRpcPorts(
  { settings, logger, clock, metrics }: OpenContext,
  { directory, validator, world }: Stores,
  chainAndPool: ChainAndPool,
  consensusAndPeers: ConsensusAndPeers,
  services: () => ServiceEndpoints,
): RpcPorts {
  const { chain, permissions, simulator, tracer, logs, accountIndex } = chainAndPool;
  const { engine, peering, pauseReasons, peerToPeer } = consensusAndPeers;
  const { pool } = chainAndPool.pool;
  const spec = settings.chainSpec;
  return {
    chain,
    pool,
    permissions,
    spec,
    clock,
    tracer,
    consensus: engine,
    simulator,
    stateQueries: simulator,
    writeTrace: createTraceFolder(settings.dataPath),
    findLogs: logs.find,
    logIndex: logs.index,
    accounts:
      accountIndex &&
      createIndexReader(
        async () => accountIndex.database,
        {
          path: directory.accountIndex,
          maxBytes: settings.accountIndex?.maxBytes ?? 0,
        },
        (damage) => accountIndex.reportDamage(damage),
      ),
    submit: createSubmission(chainAndPool.pool.admission),
    settings: rpcSettings(settings, pool),
    network: { peerToPeer, ethVersion: LATEST_ETH_VERSION, services },
    prove: (number, address, slots) => world.prove(number, address, slots),
    nextBaseFeePerGas: () => baseFeeAfter(chain.head.header, spec, clock.nowMs()),
    isMining: () => engine.status().mode === "validating",
    diskPauseEndsAtBytes: () =>
      pauseReasons.reasons.includes("diskAlmostFull") ? resumeBytes(settings.minFreeDiskBytes) : undefined,
    syncStatus: () => peering.sync.status,
    isComparedWithPeers: () => peering.sync.comparison.isMade,
    onSyncChanged: peering.onSyncChanged,
    mining: chainAndPool.controls.mining(pauseReasons, logger.child("consensus")),
    history: createChainRewinder({
      chain,
      self: validator.address,
      isStopped: () => pauseReasons.reasons.includes("operator") && engine.status().round === undefined,
      logger: logger.child("chain"),
    }),
    badBlocks: chain.badBlocks,
    nodeFacts: createNodeFacts(settings, directory, {
      consensusAndPeers,
      unmined: chainAndPool.pool.unmined,
      blockRemover: chainAndPool.blockRemover,
      stateRemover: chainAndPool.stateRemover,
      services,
    }),
    arrivals: new BlockArrivals(chain, { isInSync: () => peering.sync.isInSync, nowMs: () => clock.nowMs() }),
    collectMetrics: () => metrics?.collect(),
    changeLogLevel: logger.changeLevel,
  };
}

/** The floors of gas prices are read anew each time, because an operator may change them. */
function rpcSettings(
  { clientVersion, networkId, rpc }: Settings,
  pool: Pick<TxPool, "blockFloors">,
): RpcSettings {
  return {
    clientVersion,
    networkId,
    maxLogsRange: rpc.maxLogsRange,
    maxTraceFilterRange: rpc.maxTraceFilterRange,
    gasPrice: {
      ...rpc.gasPrice,
      get minGasPriceWei() {
        return pool.blockFloors.minGasPriceWei;
      },
      get minPriorityFeeWei() {
        return pool.blockFloors.minPriorityFeeWei;
      },
    },
    poolMaxSize: rpc.poolMaxSize,
  };
}
