import { join } from "node:path";
import { openAccess } from "../callers/access/access.ts";
import { CallerAccess } from "../callers/access/callerAccess.ts";
import { watchCertificates } from "../callers/access/certificateWatch.ts";
import { openRpcServers, type RpcServers } from "../callers/rpcServers.ts";
import { type LoadingThreads, threadsToLoad } from "../callers/threads/loadingThreads.ts";
import { answerSettings } from "../config/answerSettings.ts";
import { offering } from "../config/developmentSettings.ts";
import { Faucet } from "../faucet/faucet.ts";
import { ok, type Result } from "../primitives/result.ts";
import type { ServiceEndpoints } from "../rpc/core/coreParts.ts";
import { type Endpoints, endpointsByService, portsByFile } from "../rpc/server/serverTable.ts";
import { removePortsFile, writePortsFile } from "./dataFolder/dataDirectory.ts";
import { connectionLimit, hostLimits, spareDescriptors } from "./host/hostLimits.ts";
import { openMetering } from "./metrics/metering.ts";
import { createNodeCore } from "./nodeCore.ts";
import type { ChainAndPool } from "./openChainAndPool.ts";
import type { OpenContext } from "./openContext.ts";
import type { ConsensusAndPeers } from "./openNetwork.ts";
import type { Stores } from "./openStores.ts";

/** The servers of serverTable.ts that are on. */
export interface Servers extends Pick<RpcServers, "warmUp"> {
  readonly endpoints: Endpoints;
  readonly access: CallerAccess;
}

/** Endpoints of the servers that are open by now. */
export type OpenServices = { -readonly [Name in keyof ServiceEndpoints]: ServiceEndpoints[Name] };

/** Opens the servers of serverTable.ts; writes their ports to a file in the data folder. */
export async function openServers(
  context: OpenContext,
  stores: Stores,
  chainAndPool: ChainAndPool,
  consensusAndPeers: ConsensusAndPeers,
  { services, threads }: { readonly services: OpenServices; readonly threads: LoadingThreads | undefined },
): Promise<Result<Servers, "addressInUse" | "cannotListen" | "unusableDataPath" | "diskFailure">> {
  const { settings, logger, clock, metrics, openParts } = context;
  const { accountIndex, development } = chainAndPool;
  const faucet = await openFaucet(context, chainAndPool);
  // A folder of the development network with another key has no comforts.
  const restrict = (given: CallerAccess["now"]) =>
    development === undefined ? offering(given, undefined) : given;
  const access = new CallerAccess(settings, restrict);
  const logins = openParts.add(await openAccess(() => access.now, clock.nowMs));
  const core = createNodeCore(context, stores, chainAndPool, consensusAndPeers, {
    services: () => services,
    logins: logins.logins,
    give: faucet && ((request) => faucet.give(request)),
  });
  const { chain, shownHead, pool } = chainAndPool;
  const { directory } = stores;
  const servers = await openRpcServers(
    {
      databasePath: directory.chain,
      accountIndex: settings.accountIndex && { path: directory.accountIndex, ...settings.accountIndex },
      spec: settings.chainSpec,
      gasCap: settings.rpc.gasCap,
      viewLimits: context.caches.view,
      servers: restrict(settings),
      answers: answerSettings(settings, pool.pool),
      issuedKeys: logins.issuedKeys,
      spareDescriptors: spareDescriptors(hostLimits()),
    },
    {
      core,
      callers: threads,
      visitors: settings.explorer && threadsToLoad(1),
      access,
      pool: pool.pool,
      admission: pool.admission,
      reportIndexDamage: (damage) => accountIndex?.reportDamage(damage),
      onSyncChanged: (listener) => consensusAndPeers.peering.sync.onStatusChanged(listener),
      onHeadChanged: (listener) => chain.onHeadChanged("callerThreads", listener),
      shownHead: shownHead.memory,
      maxConnections: connectionLimit(hostLimits(), {
        callers: threads?.threads.length ?? 0,
        visitors: settings.explorer === undefined ? 0 : 1,
        indexers: accountIndex === undefined ? 0 : 1,
      }),
      metrics,
      logger,
    },
  );
  if (!servers.ok) return servers;
  openParts.add(servers.value);
  openParts.onClose(watchCertificates({ access, clock, logger: logger.child("rpc"), metrics }));
  Object.assign(services, endpointsByService(servers.value.servers));
  const metering = await openMetering(metrics, {
    settings,
    directory,
    logger: logger.child("metrics"),
    access,
  });
  if (!metering.ok) return metering;
  openParts.add(metering.value);
  const endpoints = { ...servers.value.servers, metrics: metering.value.endpoint };
  Object.assign(services, endpointsByService(endpoints));
  const written = writePortsFile(settings.dataPath, {
    ...portsByFile(endpoints),
    ...(consensusAndPeers.network?.endpoint !== undefined && {
      p2p: consensusAndPeers.network.endpoint.port,
    }),
    ...(consensusAndPeers.network?.discoveryPort !== undefined && {
      discovery: consensusAndPeers.network.discoveryPort,
    }),
  });
  if (!written.ok) return written;
  openParts.onClose(() => removePortsFile(settings.dataPath));
  await servers.value.begin();
  return ok({ endpoints, access, warmUp: servers.value.warmUp });
}

/** File in the data folder with the gifts that still count. */
const GIFTS_FILE = "faucet.jsonl";

/** Opens the faucet; undefined where it is off. Throws DiskError. */
async function openFaucet(
  { settings, logger, clock, metrics, openParts }: OpenContext,
  { view, pool: { pool, admission } }: ChainAndPool,
): Promise<Faucet | undefined> {
  const { faucet: terms, explorer, chainSpec, dataPath } = settings;
  if (terms === undefined || explorer === undefined) return undefined;
  return openParts.add(
    await Faucet.open({ ...terms, chainId: chainSpec.chainId }, join(dataPath, GIFTS_FILE), {
      nowMs: () => clock.nowMs(),
      view,
      pool,
      submit: (raw) => admission.submit(raw),
      metrics,
      logger: logger.child("node"),
    }),
  );
}
