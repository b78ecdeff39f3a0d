import { createSimulationPool, DEFAULT_SIMULATION_SETTINGS } from "../calls/callPool.ts";
import { createTracePool, DEFAULT_TRACE_SETTINGS } from "../calls/tracePool.ts";
import { createChain } from "../chain/createChain.ts";
import type { RecoverSenders } from "../chain/importBlock.ts";
import { newestFork } from "../chainspec/forks.ts";
import { nodeListKind } from "../config/permissionSettings.ts";
import type { Settings } from "../config/settings.ts";
import { loadInterpreter, loadPrecompiles } from "../execution/blockSession.ts";
import { isValidator } from "../ibft/validatorVotes.ts";
import type { Logger, RootLogger } from "../observability/logger.ts";
import { openPermissions } from "../permissioning/permissions.ts";
import { durationClock } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { curve } from "../primitives/secp256k1.ts";
import type { Endpoint } from "../rpc/ports.ts";
import { createWorldState } from "../state/worldState.ts";
import { BLOCK_STORE_LIMITS, createBlockStore } from "../storage/blocks/blockStore.ts";
import { openChainDatabase } from "../storage/chainDatabase.ts";
import { DamagedData, DiskError, FolderInUse } from "../storage/database.ts";
import { createDiskGuard } from "../storage/diskGuard.ts";
import { startScrubber } from "../storage/leveldb/scrubber.ts";
import { openVoteLog } from "../storage/votes/voteLog.ts";
import { recoveryItemOf } from "../types/transaction.ts";
import { createRecoveryPool, type Urgency } from "../workers/recoveryPool.ts";
import { createBlockControls } from "./blockControls.ts";
import { createBlockLog } from "./blockLog.ts";
import { keepBlockTiming } from "./blockTimingFile.ts";
import { joinConsensus, startConsensus } from "./consensus.ts";
import { type DataDirectory, openDataDirectory, removePortsFile, writePortsFile } from "./dataDirectory.ts";
import { connectionRoom, hostLimits } from "./hostLimits.ts";
import { type IdentityErrorCode, openIdentity } from "./identity.ts";
import { withKnownSenders } from "./knownSenders.ts";
import { loadModules } from "./loadModules.ts";
import { openLogs } from "./logs.ts";
import { createNodeMetrics, openMetering } from "./metrics/metering.ts";
import { networkSummary } from "./networkSummary.ts";
import { createNodeClock } from "./nodeClock.ts";
import { openPool } from "./openPool.ts";
import { createPauseReasons } from "./pauseReasons.ts";
import { createPeering } from "./peering.ts";
import { openPeers } from "./peers.ts";
import { createRpcPorts } from "./rpcPorts.ts";
import { openRpcServers } from "./rpcServers.ts";
import { createSubmission } from "./submission.ts";

/**
 * The one place where the parts are joined. They open from the disk upwards, and close the other way round:
 *
 *     data folder, key -> database (verified) -> chain -> pool -> simulator, consensus -> peers -> doors
 *     -> consensus starts
 *
 * Invariant: when a part refuses, those already open are closed again, and the refusal says what to do.
 */
export interface RunningNode {
  readonly http: { readonly host: string; readonly port: number } | undefined;
  readonly webSocket: { readonly host: string; readonly port: number } | undefined;
  /** Where Prometheus can fetch metrics. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  readonly nodeAddress: string;
  readonly isValidator: boolean;
  readonly headNumber: bigint;
  /** Settles when the node has to end by itself: the disk or consensus failed. */
  readonly failure: Promise<unknown>;
  /** Ends block production and requests, then closes the database. */
  stop(): Promise<void>;
}

export type StartErrorCode =
  | "unusableDataPath"
  | IdentityErrorCode
  | "unusablePermissions"
  | "folderInUse"
  | "unusableDatabase"
  | "differentGenesis"
  | "addressInUse"
  | "cannotListen";

/** Starts a node; refused with a sentence for the operator. */
export async function startNode(
  settings: Settings,
  logger: RootLogger,
): Promise<Result<RunningNode, StartErrorCode>> {
  const closers: (() => Promise<void> | void)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await closeOne(close, logger);
  };
  try {
    const started = await open(settings, logger, (close) => closers.push(close));
    if (!started.ok) await closeAll();
    return started.ok ? ok({ ...started.value, stop: closeAll }) : started;
  } catch (error) {
    await closeAll();
    if (!(error instanceof DiskError || error instanceof DamagedData)) throw error;
    const code = error instanceof FolderInUse ? "folderInUse" : "unusableDatabase";
    return err({ code, fault: "local", message: error.message });
  }
}

/** One that fails is told, and the others are closed all the same: the database is among the last. */
async function closeOne(close: () => Promise<void> | void, logger: Logger): Promise<void> {
  try {
    await close();
  } catch (error) {
    logger.error({ error }, "a part of the node could not be closed");
  }
}

async function open(
  settings: Settings,
  logger: RootLogger,
  onStop: (close: () => Promise<void> | void) => void,
): Promise<Result<Omit<RunningNode, "stop">, StartErrorCode>> {
  const clock = createNodeClock(logger);
  const metrics = createNodeMetrics(settings.metrics, clock);
  const directory = openDataDirectory(settings.dataPath);
  if (!directory.ok) return directory;
  if (directory.value.hasBesuDatabase) {
    logger.warn(
      { folder: settings.dataPath },
      "a Besu database lies in the data folder; it is neither read nor changed",
    );
  }
  const key = openIdentity(settings, directory.value, logger);
  if (!key.ok) return key;
  if (curve.name === "noble") {
    logger.warn({}, "no native secp256k1 binding for this platform: signatures take twenty times as long");
  }

  const stored = await openChainDatabase({
    path: directory.value.chain,
    headFile: directory.value.headFile,
    ...(settings.databaseCacheBytes !== undefined && { cacheBytes: settings.databaseCacheBytes }),
  });
  onStop(() => stored.close());
  const { database, headMarker } = stored;
  const blocks = createBlockStore(BLOCK_STORE_LIMITS, { database });
  const world = createWorldState({ database });
  const recovery = createRecoveryPool();
  onStop(() => recovery.close());
  const recoverAs =
    (urgency: Urgency): RecoverSenders =>
    (transactions) =>
      recovery.recoverMany(transactions.map(recoveryItemOf), urgency);
  const recoverSenders = recoverAs("ordinary");

  const controls = createBlockControls(settings, key.value);
  const chainLogger = logger.child("chain");
  const opened = await createChain(controls.candidates, {
    spec: settings.chainSpec,
    stores: { database, blocks, world, headMarker },
    clock,
    recoverSenders: withKnownSenders(recoverAs("urgent"), (hash) => pool.get(hash)?.transaction.sender),
    production: controls.production,
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    logger: chainLogger,
  });
  if (!opened.ok) return explainGenesis(settings, opened.error.message);
  const chain = opened.value;
  chainLogger.info(networkSummary(settings.chainSpec, chain.genesis.hash), "network");

  const timing = keepBlockTiming(settings.dataPath, {
    chain,
    clock: durationClock,
    logger: chainLogger,
    isValidator: () => isValidator(chain.tallyAfter(chain.head), key.value.address),
  });
  onStop(() => timing.close());
  const permissions = openPermissions(settings.permissions, {
    nodeKind: nodeListKind({ ...settings.permissions, maintained: settings.peers?.maintained ?? [] }),
    logger: logger.child("permissioning"),
  });
  if (!permissions.ok) return permissions;
  const opening = openPool(settings, {
    chain,
    state: world.head,
    recoverSenders,
    ...(permissions.value.accounts !== undefined && {
      isSenderPermitted: permissions.value.isSenderPermitted,
    }),
    clock,
    logger: logger.child("txpool"),
  });
  onStop(() => opening.close());
  const { pool } = opening;
  const executing = {
    databasePath: directory.value.chain,
    spec: settings.chainSpec,
    clock: durationClock,
    logger: chainLogger,
  };
  const gasCap = settings.rpc.gasCap ?? 0n;
  const simulator = createSimulationPool({ ...DEFAULT_SIMULATION_SETTINGS, gasCap }, executing);
  onStop(() => simulator.close());
  const tracer = createTracePool({ ...DEFAULT_TRACE_SETTINGS, gasCap }, executing);
  onStop(() => tracer.close());
  const logs = openLogs(settings, {
    directory: directory.value,
    chain,
    blocks,
    clock: durationClock,
    logger: logger.child("storage"),
  });
  onStop(() => logs.close());
  const voteLog = await openVoteLog(directory.value.voteFile);
  onStop(() => voteLog.close());
  let reportFailure: (error: unknown) => void = () => undefined;
  const failure = new Promise<unknown>((resolve) => {
    reportFailure = resolve;
  });
  const blockLog = createBlockLog({
    clock,
    logger: chainLogger,
    self: key.value.address,
    pending: () => pool.statistics.pending,
    metrics,
  });
  const peering = createPeering({
    spec: settings.chainSpec,
    networkId: settings.networkId,
    self: key.value.address,
    chain,
    pool,
    recoverSenders,
    engine: () => engine,
    clock: durationClock,
    logger: {
      consensus: logger.child("consensus"),
      network: logger.child("network"),
      sync: logger.child("sync"),
    },
    metrics,
    onImportBegun: blockLog.importBegun,
  });
  onStop(() => peering.close());
  const engine = joinConsensus({
    spec: settings.chainSpec,
    chain,
    pool,
    key: key.value,
    outbox: peering.outbox,
    voteLog,
    clock,
    logger: logger.child("consensus"),
    metrics,
    onFailure: reportFailure,
    onBegun: blockLog.begun,
  });
  onStop(() => engine.stop());
  const pauseReasons = createPauseReasons(engine);
  chain.onHeadChanged(blockLog.headChanged);

  const peers = await openPeers(settings, {
    key: key.value,
    protocols: peering.protocols,
    permissions: permissions.value,
    isValidator: (address) => isValidator(chain.tallyAfter(chain.head), address),
    headOf: peering.headOf,
    clock: durationClock,
    logger: logger.child("network"),
    metrics,
  });
  if (!peers.ok) return peers;
  const { network, facts: peerToPeer } = peers.value ?? {};
  if (network !== undefined) {
    onStop(() => network.close());
    chain.onHeadChanged(() => network.review());
  }

  const services: Partial<Record<"jsonrpc" | "ws" | "metrics", Endpoint>> = {};
  const ports = createRpcPorts({
    settings,
    chain,
    world,
    pool,
    permissions: permissions.value,
    engine,
    pauseReasons,
    simulator,
    tracer,
    logs,
    key: key.value,
    clock,
    peerToPeer,
    syncStatus: () => peering.sync.status,
    onSyncChanged: peering.onSyncChanged,
    submit: createSubmission(recoverSenders, pool),
    mining: controls.mining(pauseReasons, logger.child("consensus")),
    metrics,
    logger: chainLogger,
    changeLogLevel: logger.changeLevel,
    services: () => services,
  });
  const servers = await openRpcServers(settings, ports, {
    clock: durationClock,
    logger: logger.child("rpc"),
    metrics,
    connectionRoom: connectionRoom(hostLimits()),
  });
  if (!servers.ok) return servers;
  onStop(() => servers.value.close());
  const { http, webSocket } = servers.value;
  if (http !== undefined) services.jsonrpc = http;
  if (webSocket !== undefined) services.ws = webSocket;
  const metering = await openMetering(metrics, {
    settings,
    directory: directory.value,
    chain,
    pool,
    simulator,
    recovery,
    ports,
    clock,
    logger: logger.child("metrics"),
  });
  if (!metering.ok) return metering;
  onStop(() => metering.value.close());
  const { endpoint } = metering.value;
  if (endpoint !== undefined) services.metrics = endpoint;
  const written = writePortsFile(settings.dataPath, {
    ...(http !== undefined && { "json-rpc": http.port }),
    ...(webSocket !== undefined && { "ws-rpc": webSocket.port }),
    ...(endpoint !== undefined && { metrics: endpoint.port }),
    ...(network?.endpoint !== undefined && { p2p: network.endpoint.port }),
  });
  if (!written.ok) return written;
  onStop(() => removePortsFile(settings.dataPath));
  const diskGuard = createDiskGuard(
    { path: settings.dataPath, reserveBytes: settings.minFreeDiskBytes },
    {
      clock: durationClock,
      logger,
      hold: () => pauseReasons.pause("diskAlmostFull"),
      release: () => pauseReasons.resume("diskAlmostFull"),
    },
  );
  onStop(() => diskGuard.stop());
  const scrubber = startScrubber(
    { path: directory.value.chain, pauseMs: settings.databaseScrubMs },
    { clock: durationClock, logger: logger.child("storage"), onDamage: engine.fail },
  );
  onStop(() => scrubber.close());
  await diskGuard.start();
  // Callers are answered by now, and blocks come next.
  await loadModules(loadInterpreter);
  await loadModules(() => loadPrecompiles(newestFork(settings.chainSpec.forks)));
  const begun = startConsensus(engine, chain);
  if (!begun.ok) return explainVotes(directory.value, begun.error.message);
  peering.begin(pauseReasons);
  opening.begin();
  timing.begin();
  // Whoever asked before started them; the first block and the first answers go before all others.
  recovery.start();
  simulator.start();
  return ok({
    http: http && { host: http.host, port: http.port },
    webSocket: webSocket && { host: webSocket.host, port: webSocket.port },
    metrics: endpoint,
    nodeAddress: toHex(key.value.address),
    isValidator: isValidator(chain.tallyAfter(chain.head), key.value.address),
    headNumber: chain.head.header.number,
    failure,
  });
}

function explainGenesis(settings: Settings, difference: string): Result<never, "differentGenesis"> {
  return err({
    code: "differentGenesis",
    fault: "local",
    message:
      `The genesis file ${settings.genesisFile} does not match the chain stored in ${settings.dataPath}: ${difference}. ` +
      "Give another folder with --data-path, or the original file with --genesis-file.",
  });
}

function explainVotes({ voteFile }: DataDirectory, error: string): Result<never, "unusableDatabase"> {
  return err({
    code: "unusableDatabase",
    fault: "local",
    message:
      `The vote log ${voteFile} cannot be used: ${error}. Restore the file that belongs to this chain; or, if this ` +
      `node has never voted on it, delete ${voteFile} and ${voteFile}.mark.`,
  });
}
