import type { Core } from "../rpc/core/core.ts";
import type { CoreParts } from "../rpc/core/coreParts.ts";
import { createMainCore } from "../rpc/core/mainCore.ts";
import { createTraceFolder } from "./dataFolder/traceFolder.ts";
import type { OpenNode } from "./openNode.ts";
import { createNodeInfo } from "./status/nodeInfo.ts";

/** The core of the process, over the parts of the main thread. */
export function createNodeCore(node: OpenNode, { logins, give }: Pick<CoreParts, "logins" | "give">): Core {
  const { settings, logger, clock, metrics, services, chain, permissions, controls } = node;
  const { simulator, tracer, logs, development, wallet } = node;
  const { peering, diskGuard, peerToPeer, rewinder, arrivals } = node;
  const { engine, pauseReasons } = node.consensus;
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
    network: { peerToPeer, ethVersion: peering.eth.version, services: () => services.now },
    isMining: () => development?.isMarked === true || engine.status().mode === "validating",
    diskPauseEndsAtBytes: () => diskGuard.pauseEndsAtBytes,
    syncStatus: () => peering.sync.status,
    isComparedWithPeers: () => peering.sync.comparison.isMade,
    mining: controls.mining(pauseReasons, logger.child("consensus")),
    history: rewinder,
    badBlocks: chain.badBlocks,
    nodeInfo: createNodeInfo(node),
    arrivals,
    collectMetrics: () => metrics?.collect(),
    changeLogLevel: logger.changeLevel,
    logins,
    give,
    development,
    wallet,
  });
}
