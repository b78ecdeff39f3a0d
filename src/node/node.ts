import { uptime } from "node:os";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type LoadingThreads, loadRpcThreads } from "../callers/threads/loadingThreads.ts";
import { newestFork } from "../chainspec/forks.ts";
import type { Settings } from "../config/settings.ts";
import { startConsensus } from "../consensus/chainAdapter.ts";
import { SignedTimes } from "../consensus/monitor/signedTimes.ts";
import type { Development } from "../dev/development.ts";
import { loadInterpreter, loadPrecompiles } from "../execution/blockSession.ts";
import type { Logger, RootLogger } from "../observability/logger.ts";
import { durationClock } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import type { ServiceEndpoints } from "../rpc/core/coreParts.ts";
import type { Endpoints } from "../rpc/server/serverTable.ts";
import { DamagedData, DiskError, FolderInUse, OtherSchema, UnfinishedImport } from "../storage/database.ts";
import { Scrubber } from "../storage/leveldb/scrubber.ts";
import { cachesOf } from "./caches.ts";
import type { DataDirectory } from "./dataFolder/dataDirectory.ts";
import { withGenesisOfChain } from "./dataFolder/genesisOfChain.ts";
import { loadModules } from "./host/loadModules.ts";
import { createNodeClock } from "./host/nodeClock.ts";
import type { IdentityErrorCode } from "./keys/identity.ts";
import { createNodeMetrics } from "./metrics/metering.ts";
import { type ChainAndPool, openChainAndPool } from "./openChainAndPool.ts";
import { openEthstats } from "./openEthstats.ts";
import { type ConsensusAndPeers, openNetwork } from "./openNetwork.ts";
import { type OpenServices, openServers, type Servers } from "./openServers.ts";
import { type OpenContext, openStores, type Stores, type ValidatorIdentity } from "./openStores.ts";
import { openWarmUp } from "./openWarmUp.ts";
import { LiveSettings } from "./settings/liveSettings.ts";
import { createStatusReport } from "./status/statusReport.ts";
import { openStatusSocket } from "./status/statusSocket.ts";

/**
 * Assembles the node. Parts open from the disk upwards and close in reverse order:
 *
 *     stores (data folder, key, verified database) -> chain and pool (with calls and logs)
 *     -> network (vote log, consensus, peers) -> servers (JSON-RPC, metrics) -> consensus begins
 *
 * Invariant: when a part cannot be opened, those already open are closed, and the error says what to do.
 */
export interface RunningNode {
  readonly endpoints: Endpoints;
  /** How the development network makes its blocks; undefined where it has no comforts, and elsewhere. */
  readonly mining: Mining | undefined;
  readonly nodeAddress: string;
  readonly isValidator: boolean;
  readonly headNumber: bigint;
  /** Resolves when the node must end because the disk or consensus failed. */
  readonly failure: Promise<unknown>;
  /** Takes over what may change while the node runs. */
  readonly live: LiveSettings;
  /** Stops block production and the servers, then closes the database. */
  stop(): Promise<void>;
}

/** How blocks are made: at the genesis file's period unless callers chose another way, which a restart keeps. */
export type Mining = Pick<Development, "isModeDefault" | "isAutomatic" | "intervalMs">;

export type StartErrorCode =
  | "unusableDataPath"
  | IdentityErrorCode
  | "unusableSigner"
  | "unusablePermissions"
  | "developmentFolder"
  | "folderInUse"
  | "unfinishedImport"
  | "otherSchema"
  | "unusableDatabase"
  | "differentGenesis"
  | "addressInUse"
  | "cannotListen";

/** Starts a node, with threads for callers that load already. The error has a message for the operator. */
export async function startNode(
  settings: Settings,
  logger: RootLogger,
  threads: LoadingThreads | undefined = loadRpcThreads(settings),
): Promise<Result<RunningNode, StartErrorCode>> {
  const closers: (() => Promise<void> | void)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await closeOne(close, logger);
  };
  try {
    const signedTimes = new SignedTimes(() => uptime() * 1000);
    const clock = createNodeClock(logger, signedTimes);
    const metrics = createNodeMetrics(settings.metrics, clock);
    const onStop = (close: () => Promise<void> | void): void => void closers.push(close);
    onStop(() => threads?.close());
    const caches = cachesOf(settings, threads, logger);
    const started = await open({ settings, caches, logger, clock, signedTimes, metrics, onStop }, threads);
    if (!started.ok) await closeAll();
    return started.ok ? ok({ ...started.value, stop: closeAll }) : started;
  } catch (error) {
    await closeAll();
    if (!(error instanceof DiskError || error instanceof DamagedData)) throw error;
    const code = codeOf(error);
    return fail("local", code, error.message);
  }
}

function codeOf(error: DiskError | DamagedData): StartErrorCode {
  if (error instanceof FolderInUse) return "folderInUse";
  if (error instanceof OtherSchema) return "otherSchema";
  return error instanceof UnfinishedImport ? "unfinishedImport" : "unusableDatabase";
}

/** Logs a failure instead of throwing, so that the others are closed too; the database is among the last. */
async function closeOne(close: () => Promise<void> | void, logger: Logger): Promise<void> {
  try {
    await close();
  } catch (error) {
    logger.error({ error }, "a part of the node could not be closed");
  }
}

/** Opens all parts, starts consensus last, and returns the node's endpoints. */
async function open(
  given: OpenContext,
  threads: LoadingThreads | undefined,
): Promise<Result<Omit<RunningNode, "stop">, StartErrorCode>> {
  const stores = await openStores(given);
  if (!stores.ok) return stores;
  const context = { ...given, settings: withGenesisOfChain(given.settings, stores.value.blocks) };
  threads?.startCopier();
  const chainAndPool = await openChainAndPool(context, stores.value);
  if (!chainAndPool.ok) return chainAndPool;
  let reportFailure: (error: unknown) => void = () => undefined;
  const failure = new Promise<unknown>((resolve) => {
    reportFailure = resolve;
  });
  const consensusAndPeers = await openNetwork(context, stores.value, chainAndPool.value, reportFailure);
  if (!consensusAndPeers.ok) return consensusAndPeers;
  const services: OpenServices = {};
  const { health } = stores.value.validator;
  await openStatus(context, chainAndPool.value, consensusAndPeers.value, services, health);
  const servers = await openServers(context, stores.value, chainAndPool.value, consensusAndPeers.value, {
    services,
    threads,
  });
  if (!servers.ok) return servers;
  const begun = await begin(
    context,
    stores.value,
    chainAndPool.value,
    consensusAndPeers.value,
    servers.value,
  );
  if (!begun.ok) return begun;
  await openEthstats(context, stores.value, chainAndPool.value, consensusAndPeers.value);
  const { chain, development } = chainAndPool.value;
  const { endpoints } = servers.value;
  const { address } = stores.value.validator;
  return ok({
    endpoints,
    mining: development,
    nodeAddress: toHex(address),
    isValidator: chain.isValidator(address),
    headNumber: chain.head.header.number,
    failure,
    live: new LiveSettings({
      logger: context.logger,
      ...chainAndPool.value,
      pool: chainAndPool.value.pool.pool,
      network: consensusAndPeers.value.network,
      access: servers.value.access,
    }),
  });
}

/** Lets `ibex status` and `ibex doctor` ask the node. */
async function openStatus(
  { settings, logger, clock, onStop }: OpenContext,
  chainAndPool: ChainAndPool,
  consensusAndPeers: ConsensusAndPeers,
  services: ServiceEndpoints,
  signerHealth: ValidatorIdentity["health"],
): Promise<void> {
  const startedAtMs = clock.nowMs();
  const sources = { settings, logger, chainAndPool, consensusAndPeers, services, signerHealth, startedAtMs };
  const textOf = (): string => `${JSON.stringify(createStatusReport(sources, clock.nowMs()))}\n`;
  const socket = await openStatusSocket(settings.dataPath, textOf);
  if ("close" in socket) onStop(socket.close);
  else logger.warn({ reason: socket.problem }, "ibex status and ibex doctor cannot ask this node");
}

/** Leaves the first seconds to the rest of the start. */
const CALL_THREADS_AFTER_MS = 5000;

/** Starts the background work: the disk guards first, then consensus, sync, and the worker threads. */
async function begin(
  context: OpenContext,
  { directory }: Stores,
  chainAndPool: ChainAndPool,
  { engine, peering, pauseReasons, diskGuard }: ConsensusAndPeers,
  servers: Servers,
): Promise<Result<void, "unusableDatabase">> {
  const { settings, logger, onStop } = context;
  const { chain, pool, timing, simulator, accountIndex, stateRemover, blockRemover, development } =
    chainAndPool;
  const scrubber = new Scrubber(
    { path: directory.chain, pauseMs: settings.databaseScrubMs },
    { clock: durationClock, logger: logger.child("storage"), onDamage: engine.fail },
  );
  onStop(() => scrubber.close());
  await diskGuard.start();
  // The servers are open by now; blocks come next.
  await loadModules(loadInterpreter);
  await loadModules(() => loadPrecompiles(newestFork(settings.chainSpec.forks)));
  // In a folder that is marked for development, consensus never runs again.
  if (development?.isMarked === true) pauseReasons.pause("development");
  else {
    const started = startConsensus(engine, chain);
    if (!started.ok) return unusableVoteLog(directory, started.error.message);
  }
  peering.begin(pauseReasons);
  pool.begin();
  await development?.begin({
    async stopConsensus() {
      pauseReasons.pause("development");
      while (!engine.isIdle) await yieldToEventLoop();
      await engine.stop();
    },
    whyHalted: () => pauseReasons.haltOfDevelopment,
    onFailure: engine.fail,
  });
  const warmUp = openWarmUp(context, chainAndPool, peering, servers);
  onStop(() => warmUp?.stop());
  timing.begin(warmUp?.ended ?? Promise.resolve(false));
  warmUp?.begin();
  // A first call would start these threads, too; begun here, it finds them, and a node that is stopped at once saves them.
  const quiet = durationClock.at(durationClock.nowMs() + CALL_THREADS_AFTER_MS, () => simulator.start());
  onStop(() => quiet.cancel());
  accountIndex?.start();
  stateRemover.begin(engine.fail);
  await blockRemover.begin(engine.fail);
  return ok(undefined);
}

function unusableVoteLog({ voteFile }: DataDirectory, error: string): Result<never, "unusableDatabase"> {
  return fail(
    "local",
    "unusableDatabase",
    `The vote log ${voteFile} cannot be used: ${error}. Restore the file that belongs to this chain; or, if this ` +
      `node has never voted on it, delete ${voteFile} and ${voteFile}.mark: it is then silent for a while.`,
  );
}
