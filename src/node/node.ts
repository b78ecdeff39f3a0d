import { uptime } from "node:os";
import { type LoadingThreads, loadRpcThreads } from "../callers/threads/loadingThreads.ts";
import { newestFork } from "../chainspec/forks.ts";
import type { Settings } from "../config/settings.ts";
import { startConsensus } from "../consensus/chainAdapter.ts";
import { SignedTimes } from "../consensus/monitor/signedTimes.ts";
import type { Development } from "../dev/development.ts";
import { loadInterpreter, loadPrecompiles } from "../execution/blockSession.ts";
import type { RootLogger } from "../observability/logger.ts";
import { Metrics } from "../observability/registry.ts";
import { durationClock } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import type { Endpoints } from "../rpc/server/serverTable.ts";
import { DamagedData, DiskError, FolderInUse, OtherSchema, UnfinishedImport } from "../storage/database.ts";
import { Scrubber } from "../storage/leveldb/scrubber.ts";
import { cachesOf } from "./caches.ts";
import { withGenesisOfChain } from "./dataFolder/genesisOfChain.ts";
import { loadModules } from "./host/loadModules.ts";
import { createNodeClock } from "./host/nodeClock.ts";
import type { IdentityErrorCode } from "./keys/identity.ts";
import { openChainAndPool } from "./openChainAndPool.ts";
import { type OpenContext, OpenParts } from "./openContext.ts";
import { openEthstats } from "./openEthstats.ts";
import { type OpenNode, openNetwork } from "./openNetwork.ts";
import { type OpenServices, openServers } from "./openServers.ts";
import { openStores } from "./openStores.ts";
import { openWarmUp } from "./openWarmUp.ts";
import { LiveSettings } from "./settings/liveSettings.ts";
import { openStatus } from "./status/statusReport.ts";

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
  const openParts = new OpenParts(logger);
  try {
    if (threads !== undefined) openParts.add(threads);
    const signedTimes = new SignedTimes(() => uptime() * 1000);
    const clock = createNodeClock(logger, signedTimes);
    const metrics =
      settings.metrics && new Metrics(settings.metrics, { clock, stopwatchMs: durationClock.nowMs });
    const caches = cachesOf(settings, threads, logger);
    const context = { settings, caches, logger, clock, signedTimes, metrics, openParts, threads };
    const started = await open(context);
    if (!started.ok) await openParts.close();
    return started;
  } catch (error) {
    await openParts.close();
    if (!(error instanceof DiskError || error instanceof DamagedData)) throw error;
    return fail("local", codeOf(error), error.message);
  }
}

function codeOf(error: DiskError | DamagedData): StartErrorCode {
  if (error instanceof FolderInUse) return "folderInUse";
  if (error instanceof OtherSchema) return "otherSchema";
  return error instanceof UnfinishedImport ? "unfinishedImport" : "unusableDatabase";
}

/** Opens all parts, and starts consensus last. */
async function open(context: OpenContext): Promise<Result<RunningNode, StartErrorCode>> {
  const stores = await openStores(context);
  if (!stores.ok) return stores;
  const settings = withGenesisOfChain(context.settings, stores.value.blocks);
  context.threads?.startCopier();
  const withStores = { ...context, settings, ...stores.value };
  const chainAndPool = await openChainAndPool(withStores);
  if (!chainAndPool.ok) return chainAndPool;
  let reportFailure: (error: unknown) => void = () => undefined;
  const failure = new Promise<unknown>((resolve) => {
    reportFailure = resolve;
  });
  const withChain = { ...withStores, ...chainAndPool.value };
  const network = await openNetwork(withChain, reportFailure);
  if (!network.ok) return network;
  const node: OpenNode = { ...withChain, ...network.value };
  const services: OpenServices = {};
  await openStatus(node, services);
  const servers = await openServers(node, services);
  if (!servers.ok) return servers;
  const { endpoints, access, warmUp } = servers.value;
  const begun = await begin(node, warmUp);
  if (!begun.ok) return begun;
  await openEthstats(node);
  const { chain, validator, development, txPool, openParts } = node;
  return ok({
    endpoints,
    mining: development,
    nodeAddress: toHex(validator.address),
    isValidator: chain.isValidator(validator.address),
    headNumber: chain.head.header.number,
    failure,
    live: new LiveSettings({ ...node, pool: txPool.pool, access }),
    stop: () => openParts.close(),
  });
}

/** Starts the background work: the disk guards first, then consensus, sync, and the worker threads. */
async function begin(
  node: OpenNode,
  answerCalls: (count: number) => void,
): Promise<Result<void, "unusableDatabase">> {
  const { settings, logger, openParts, directory, chain, txPool, timing, simulator, development } = node;
  const { engine, peering, pauseReasons, diskGuard, accountIndex, stateRemover, blockRemover } = node;
  openParts.add(
    new Scrubber(
      { path: directory.chain, pauseMs: settings.databaseScrubMs },
      { clock: durationClock, logger: logger.child("storage"), onDamage: engine.fail },
    ),
  );
  await diskGuard.start();
  // The servers are open by now; blocks come next.
  await loadModules(loadInterpreter);
  await loadModules(() => loadPrecompiles(newestFork(settings.chainSpec.forks)));
  // In a folder that is marked for development, consensus never runs again.
  if (development?.isMarked === true) pauseReasons.pause("development");
  else {
    const started = startConsensus(engine, chain, directory.voteFile);
    if (!started.ok) return started;
  }
  peering.begin(pauseReasons);
  txPool.begin();
  await development?.begin({
    stopConsensus() {
      pauseReasons.pause("development");
      return engine.stopWhenPaused();
    },
    whyHalted: () => pauseReasons.haltOfDevelopment,
    onFailure: engine.fail,
  });
  const warmUp = openWarmUp(node, answerCalls);
  timing.begin(warmUp?.ended ?? Promise.resolve(false));
  warmUp?.begin();
  simulator.begin();
  accountIndex?.start();
  stateRemover.begin(engine.fail);
  await blockRemover.begin(engine.fail);
  return ok(undefined);
}
