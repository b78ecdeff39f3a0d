import { createInlineCalls } from "../calls/inline/inlineCalls.ts";
import type { Chain } from "../chain/createChain.ts";
import { createChainRewinder } from "../chain/rewindAndReplay.ts";
import type { Settings } from "../config/settings.ts";
import type { Engine } from "../consensus/engine.ts";
import { nextBaseFee } from "../execution/baseFee.ts";
import type { Simulator } from "../execution/callRequest.ts";
import type { StateQueryRunner } from "../execution/stateQuery.ts";
import type { Logs } from "../logs/openLogs.ts";
import { ETH_VERSION } from "../network/eth/messages.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import { type Clock, durationClock } from "../primitives/clock.ts";
import { larger } from "../primitives/quantity.ts";
import type { PeerToPeerFacts, RpcPorts, ServiceEndpoints } from "../rpc/ports.ts";
import type { WorldState } from "../state/worldState.ts";
import type { Tracer } from "../tracers/traceJob.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { NodeKey } from "./nodeKey.ts";
import type { PauseReasons } from "./pauseReasons.ts";
import { createTraceFolder } from "./traceFolder.ts";

export interface RpcPortParts {
  readonly settings: Settings;
  readonly chain: Chain;
  readonly world: WorldState;
  readonly pool: TxPool;
  readonly permissions: RpcPorts["permissions"];
  readonly engine: Engine;
  readonly pauseReasons: PauseReasons;
  readonly simulator: Simulator & StateQueryRunner;
  readonly tracer: Tracer;
  readonly logs: Logs;
  readonly key: NodeKey;
  readonly clock: Clock;
  /** Undefined when peer-to-peer networking is off. */
  readonly peerToPeer: PeerToPeerFacts | undefined;
  readonly syncStatus: RpcPorts["syncStatus"];
  readonly onSyncChanged: RpcPorts["onSyncChanged"];
  readonly submit: RpcPorts["submit"];
  readonly mining: RpcPorts["mining"];
  /** Undefined when metrics are off. */
  readonly metrics: Metrics | undefined;
  readonly logger: Logger;
  readonly changeLogLevel: RpcPorts["changeLogLevel"];
  services(): ServiceEndpoints;
}

/** Creates the ports through which JSON-RPC methods use the node. */
export function createRpcPorts(parts: RpcPortParts): RpcPorts {
  const {
    settings,
    chain,
    world,
    pool,
    permissions,
    engine,
    pauseReasons,
    simulator,
    tracer,
    logs,
    key,
    clock,
    peerToPeer,
    syncStatus,
    onSyncChanged,
    submit,
    mining,
    metrics,
    logger,
    changeLogLevel,
    services,
  } = parts;
  const spec = settings.chainSpec;
  return {
    chain,
    pool,
    permissions,
    consensus: engine,
    spec,
    simulator: createInlineCalls({
      spec,
      gasCap: settings.rpc.gasCap ?? 0n,
      chain,
      pool: simulator,
      nowMs: durationClock.nowMs,
    }),
    stateQueries: simulator,
    tracer,
    writeTrace: createTraceFolder(settings.dataPath),
    findLogs: logs.find,
    logIndex: logs.index,
    clock,
    submit,
    settings: {
      clientVersion: settings.clientVersion,
      networkId: settings.networkId,
      maxLogsRange: settings.rpc.maxLogsRange,
      maxTraceFilterRange: settings.rpc.maxTraceFilterRange,
      gasPrice: {
        ...settings.rpc.gasPrice,
        get minGasPriceWei() {
          return pool.blockFloors.minGasPriceWei;
        },
        get minPriorityFeeWei() {
          return pool.blockFloors.minPriorityFeeWei;
        },
      },
      poolMaxSize: settings.rpc.poolMaxSize,
    },
    network: { peerToPeer, ethVersion: ETH_VERSION, services },
    prove: (number, address, slots) => world.prove(number, address, slots),
    nextBaseFeePerGas: () => {
      const { header } = chain.head;
      const nowSeconds = BigInt(Math.floor(clock.nowMs() / 1000));
      return nextBaseFee(spec, header, larger(nowSeconds, header.timestamp + 1n));
    },
    isMining: () => engine.status().mode === "validating",
    isPausedByDisk: () => pauseReasons.reasons.includes("diskAlmostFull"),
    syncStatus,
    onSyncChanged,
    mining,
    history: createChainRewinder({
      chain,
      self: key.address,
      isStopped: () => pauseReasons.reasons.includes("operator") && engine.status().round === undefined,
      logger,
    }),
    badBlocks: chain.badBlocks,
    collectMetrics: () => metrics?.collect(),
    changeLogLevel,
  };
}
