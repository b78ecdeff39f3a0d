import { BlockArrivals } from "../chain/blockArrivals.ts";
import { ChainRewinder } from "../chain/rewindAndReplay.ts";
import { LATEST_ETH_VERSION } from "../network/eth/messages.ts";
import type { Core } from "../rpc/core/core.ts";
import type { CoreParts, ServiceEndpoints } from "../rpc/core/coreParts.ts";
import { createMainCore } from "../rpc/core/mainCore.ts";
import { createTraceFolder } from "./dataFolder/traceFolder.ts";
import type { OpenNode } from "./openNetwork.ts";
import { createNodeInfo } from "./status/nodeInfo.ts";

/** The core of the process, over the parts of the main thread. `services` says which servers are open. */
export function createNodeCore(
  node: OpenNode,
  { services, logins, give }: Pick<CoreParts, "logins" | "give"> & { services(): ServiceEndpoints },
): Core {
  const { settings, logger, clock, metrics, validator, chain, permissions, controls } = node;
  const { simulator, tracer, logs, development, wallet } = node;
  const { engine, peering, pauseReasons, diskGuard, peerToPeer } = node;
  const { pool, admission } = node.txPool;
  return createMainCore({
    chain,
    pool,
    submit: (raw) => admission.submit(raw),
    permissions,
    clock,
    tracer,
    consensus: engine,
    simulator,
    stateQueries: simulator,
    writeTrace: createTraceFolder(settings.dataPath),
    findLogs: logs.find,
    logIndex: logs.index,
    network: { peerToPeer, ethVersion: LATEST_ETH_VERSION, services },
    isMining: () => development?.isMarked === true || engine.status().mode === "validating",
    diskPauseEndsAtBytes: () => diskGuard.pauseEndsAtBytes,
    syncStatus: () => peering.sync.status,
    isComparedWithPeers: () => peering.sync.comparison.isMade,
    mining: controls.mining(pauseReasons, logger.child("consensus")),
    history: new ChainRewinder({
      chain,
      self: validator.address,
      isStopped: () => pauseReasons.reasons.includes("operator") && engine.status().round === undefined,
      logger: logger.child("chain"),
    }),
    badBlocks: chain.badBlocks,
    nodeInfo: createNodeInfo(node, services),
    arrivals: new BlockArrivals(chain, { isInSync: () => peering.sync.isInSync, nowMs: () => clock.nowMs() }),
    collectMetrics: () => metrics?.collect(),
    changeLogLevel: logger.changeLevel,
    logins,
    give,
    development,
    wallet,
  });
}
