import { uptime } from "node:os";
import { type LoadingThreads, loadRpcThreads } from "../callers/threads/loadingThreads.ts";
import { newestFork } from "../chainspec/forks.ts";
import type { Settings } from "../config/settings.ts";
import { startConsensus } from "../consensus/chainAdapter.ts";
import { SignedTimes } from "../consensus/monitor/signedTimes.ts";
import { loadInterpreter, loadPrecompiles } from "../execution/blockSession.ts";
import type { RootLogger } from "../observability/logger.ts";
import { Metrics } from "../observability/registry.ts";
import { durationClock } from "../primitives/clock.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { toHex } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { Scrubber } from "../storage/leveldb/scrubber.ts";
import { cachesOf } from "./caches.ts";
import { withGenesisOfChain } from "./dataFolder/genesisOfChain.ts";
import { chainReadersOf } from "./host/chainReaders.ts";
import { loadModules } from "./host/loadModules.ts";
import { createNodeClock } from "./host/nodeClock.ts";
import { openChainAndPool } from "./openChainAndPool.ts";
import { type OpenContext, OpenParts } from "./openContext.ts";
import { openDevelopment } from "./openDevelopment.ts";
import { openEthstats } from "./openEthstats.ts";
import { openNetwork } from "./openNetwork.ts";
import type { OpenNode } from "./openNode.ts";
import { openServers } from "./openServers.ts";
import { openStores } from "./openStores.ts";
import { openWarmUp } from "./openWarmUp.ts";
import type { RunningNode } from "./runningNode.ts";
import { LiveSettings } from "./settings/liveSettings.ts";
import { type StartErrorCode, startErrorCodeOf } from "./startErrors.ts";
import { OpenServices } from "./status/openServices.ts";
import { openStatus } from "./status/statusReport.ts";

/**
 * Starts a node, with threads for callers that load already. Parts open from the disk upwards and close in reverse order:
 *
 *     stores (data folder, key, verified database) -> chain and pool (with calls and logs)
 *     -> network (vote log, consensus, peers) -> servers (JSON-RPC, metrics) -> consensus begins
 *
 * Invariant: when a part cannot be opened, those already open are closed, and the error says what to do.
 */
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
    const readers = chainReadersOf(settings, threads?.threads.length ?? 0);
    const started = await open({
      ...{ settings, logger, clock, signedTimes, metrics, openParts, threads, readers },
      caches: cachesOf(settings, readers, logger),
      services: new OpenServices(),
    });
    if (!started.ok) await openParts.close();
    return started;
  } catch (error) {
    await openParts.close();
    const code = startErrorCodeOf(error);
    if (code === undefined) throw error;
    return fail("local", code, messageOf(error));
  }
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
  const withNetwork = { ...withChain, ...network.value };
  const node: OpenNode = { ...withNetwork, ...(await openDevelopment(withNetwork)) };
  await openStatus(node);
  const servers = await openServers(node);
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
  const { engine, pauseReasons } = node.consensus;
  const { peering, diskGuard, accountIndex, stateRemover, blockRemover } = node;
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
  peering.begin();
  txPool.begin();
  await development?.begin();
  const warmUp = openWarmUp(node, answerCalls);
  timing.begin(warmUp?.ended ?? Promise.resolve(false));
  warmUp?.begin();
  simulator.begin();
  accountIndex?.start();
  stateRemover.begin(engine.fail);
  await blockRemover.begin(engine.fail);
  return ok(undefined);
}
