import { join } from "node:path";
import { type Access, openAccess, withoutUsers } from "../callers/access/access.ts";
import { CallerAccess } from "../callers/access/callerAccess.ts";
import { watchCertificates } from "../callers/access/certificateWatch.ts";
import { type OpenThreads, openRpcServers, type RpcServers } from "../callers/rpcServers.ts";
import { type LoadingThreads, threadsToLoad } from "../callers/threads/loadingThreads.ts";
import { openRpcThreads } from "../callers/threads/rpcThreads.ts";
import type { RpcThreadsParts } from "../callers/threads/threadParts.ts";
import { offering } from "../config/developmentSettings.ts";
import { DEV_WALLET } from "../config/devNetwork.ts";
import type { Settings } from "../config/settings.ts";
import { Faucet } from "../faucet/faucet.ts";
import { ok, type Result } from "../primitives/result.ts";
import type { ServiceEndpoints } from "../rpc/core/coreParts.ts";
import { createMainCore } from "../rpc/core/mainCore.ts";
import type { RpcSettings } from "../rpc/ports.ts";
import { type AddressOf, SERVER_NAMES, SERVERS, type ServerName } from "../rpc/server/serverTable.ts";
import { isPath } from "../rpc/server/unixSocket.ts";
import type { TxPool } from "../txpool/txPool.ts";
import { createCoreParts } from "./coreParts.ts";
import { removePortsFile, writePortsFile } from "./dataFolder/dataDirectory.ts";
import { connectionLimit, hostLimits, spareDescriptors, type ThreadsToStart } from "./host/hostLimits.ts";
import { openMetering } from "./metrics/metering.ts";
import type { ChainAndPool } from "./openChainAndPool.ts";
import type { ConsensusAndPeers } from "./openNetwork.ts";
import type { OpenContext, Stores } from "./openStores.ts";

/** Where the servers listen; undefined for one that is off. */
export type Endpoints = { readonly [Name in ServerName]?: AddressOf<Name> | undefined };

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
  const { settings, logger, clock, metrics, onStop } = context;
  const { accountIndex, development } = chainAndPool;
  const { directory } = stores;
  const faucet = await openFaucet(context, chainAndPool);
  // A folder of the development network with another key has no comforts.
  const restrict = (given: CallerAccess["now"]) =>
    development === undefined ? offering(given, undefined) : given;
  const access = new CallerAccess(settings, restrict);
  const logins = await openAccess(() => access.now, clock.nowMs);
  onStop(() => logins.close());
  const parts = createCoreParts(context, stores, chainAndPool, consensusAndPeers, {
    services: () => services,
    logins: logins.logins,
    give: faucet && ((request) => faucet.give(request)),
  });
  const servers = await openRpcServers(restrict(settings), createMainCore(parts), {
    callers: threads,
    visitors: settings.explorer && threadsToLoad(1),
    openThreads: threadOpener(context, stores, chainAndPool, {
      access,
      logins,
      onSyncChanged: (listener) => consensusAndPeers.peering.onSyncChanged(listener),
    }),
    logger: logger.child("rpc"),
    metrics,
    maxConnections: connectionLimit(hostLimits(), threadsToStart(threads, settings, accountIndex)),
  });
  if (!servers.ok) return servers;
  onStop(() => servers.value.close());
  onStop(watchCertificates({ access, clock, logger: logger.child("rpc"), metrics }));
  announce(servers.value.servers, services);
  const metering = await openMetering(metrics, {
    settings,
    directory,
    logger: logger.child("metrics"),
    access,
  });
  if (!metering.ok) return metering;
  onStop(() => metering.value.close());
  const endpoints = { ...servers.value.servers, metrics: metering.value.endpoint };
  announce(endpoints, services);
  const written = writePortsFile(settings.dataPath, {
    ...portsOf(endpoints),
    ...(consensusAndPeers.network?.endpoint !== undefined && {
      p2p: consensusAndPeers.network.endpoint.port,
    }),
    ...(consensusAndPeers.network?.discoveryPort !== undefined && {
      discovery: consensusAndPeers.network.discoveryPort,
    }),
  });
  if (!written.ok) return written;
  onStop(() => removePortsFile(settings.dataPath));
  await servers.value.begin();
  return ok({ endpoints, access, warmUp: servers.value.warmUp });
}

/** File in the data folder with the gifts that still count. */
const GIFTS_FILE = "faucet.jsonl";

/** Opens the faucet; undefined where it is off. Throws DiskError. */
async function openFaucet(
  { settings, logger, clock, metrics, onStop }: OpenContext,
  { view, pool: { pool, admission } }: ChainAndPool,
): Promise<Faucet | undefined> {
  const { faucet: terms, explorer, chainSpec, dataPath } = settings;
  if (terms === undefined || explorer === undefined) return undefined;
  const faucet = await Faucet.open({ ...terms, chainId: chainSpec.chainId }, join(dataPath, GIFTS_FILE), {
    nowMs: () => clock.nowMs(),
    view,
    pool,
    submit: (raw) => admission.submit(raw),
    metrics,
    logger: logger.child("node"),
  });
  onStop(() => faucet.close());
  return faucet;
}

/** Tells JSON-RPC of servers. */
function announce(endpoints: Endpoints, services: OpenServices): void {
  for (const name of SERVER_NAMES) {
    const { [name]: endpoint } = endpoints;
    const { service } = SERVERS[name];
    if (service !== undefined && endpoint !== undefined && !isPath(endpoint)) services[service] = endpoint;
  }
}

/** The ports by their names in the file of ports. */
function portsOf(endpoints: Endpoints): Readonly<Record<string, number>> {
  const ports = SERVER_NAMES.flatMap((name) => {
    const { [name]: endpoint } = endpoints;
    const { file } = SERVERS[name];
    return endpoint === undefined || isPath(endpoint) || file === undefined
      ? []
      : [[file, endpoint.port] as const];
  });
  return Object.fromEntries(ports);
}

function threadsToStart(
  callers: LoadingThreads | undefined,
  { explorer }: OpenContext["settings"],
  index: ChainAndPool["accountIndex"],
): ThreadsToStart {
  return {
    callers: callers?.threads.length ?? 0,
    visitors: explorer === undefined ? 0 : 1,
    indexers: index === undefined ? 0 : 1,
  };
}

/** Opens the servers on threads that read the database themselves. */
function threadOpener(
  { settings, logger, caches }: OpenContext,
  { directory }: Stores,
  { chain, shownHead, accountIndex, pool: { pool, admission } }: ChainAndPool,
  {
    access,
    logins,
    onSyncChanged,
  }: {
    readonly access: CallerAccess;
    readonly logins: Access;
    readonly onSyncChanged: RpcThreadsParts["onSyncChanged"];
  },
): OpenThreads {
  return async (servers, threads, answering) => {
    const opened = await openRpcThreads(
      {
        databasePath: directory.chain,
        accountIndex: settings.accountIndex && { path: directory.accountIndex, ...settings.accountIndex },
        spec: settings.chainSpec,
        gasCap: settings.rpc.gasCap,
        viewLimits: caches.view,
        servers: withoutUsers(servers),
        answers: rpcSettings(settings, pool),
        issuedKeys: logins.issuedKeys,
        spareDescriptors: spareDescriptors(hostLimits()),
      },
      {
        ...answering,
        pool,
        admission,
        reportIndexDamage: (damage) => accountIndex?.reportDamage(damage),
        onSyncChanged,
        onHeadChanged: (listener) => chain.onHeadChanged("callerThreads", listener),
        shownHead: shownHead.memory,
        logger,
      },
      threads,
    );
    if (opened.ok) access.onReplaced(() => opened.value.changeAccess(withoutUsers(access.now)));
    return opened;
  };
}

/** Settings that shape answers. The price floors may change later: threads read them in shared memory. */
function rpcSettings(
  { clientVersion, networkId, rpc, explorer, development }: Settings,
  { blockFloors }: Pick<TxPool, "blockFloors">,
): RpcSettings {
  const { maxLogsRange, maxTraceFilterRange, gasPrice, poolMaxSize } = rpc;
  return {
    clientVersion,
    networkId,
    coinSymbol: explorer?.coinSymbol ?? "ETH",
    maxLogsRange,
    maxTraceFilterRange,
    gasPrice: { ...gasPrice, ...blockFloors },
    poolMaxSize,
    accounts: development === undefined ? [] : DEV_WALLET,
  };
}
