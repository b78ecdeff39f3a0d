import { openAccess } from "../callers/access/access.ts";
import { CallerAccess } from "../callers/access/callerAccess.ts";
import { watchCertificates } from "../callers/access/certificateWatch.ts";
import { openRpcServers, type RpcServers } from "../callers/rpcServers.ts";
import { threadsToLoad } from "../callers/threads/loadingThreads.ts";
import { answerSettings } from "../config/answerSettings.ts";
import { offering } from "../config/developmentSettings.ts";
import { ok, type Result } from "../primitives/result.ts";
import { type Endpoints, portsByFile } from "../rpc/server/serverTable.ts";
import { writePortsFile } from "./dataFolder/dataDirectory.ts";
import { connectionLimit, hostLimits, spareDescriptors } from "./host/hostLimits.ts";
import { openMetering } from "./metrics/metering.ts";
import { createNodeCore } from "./nodeCore.ts";
import { openFaucet } from "./openFaucet.ts";
import type { OpenNode } from "./openNode.ts";

/** The servers of serverTable.ts that are on. */
interface Servers extends Pick<RpcServers, "warmUp"> {
  readonly endpoints: Endpoints;
  readonly access: CallerAccess;
}

/** Opens the servers of serverTable.ts, and the faucet; writes their ports to a file in the data folder. Throws DiskError. */
export async function openServers(
  node: OpenNode,
): Promise<Result<Servers, "addressInUse" | "cannotListen" | "unusableDataPath" | "diskFailure">> {
  const { settings, caches, logger, clock, metrics, openParts, directory, threads, services } = node;
  const { chainSpec: spec, explorer, accountIndex: indexSettings, dataPath } = settings;
  const { chain, shownHead, accountIndex, development, network, peering } = node;
  const { pool, admission } = node.txPool;
  const faucet = await openFaucet(node);
  // A folder of the development network with another key has no comforts.
  const restrict = (given: CallerAccess["now"]) =>
    development === undefined ? offering(given, undefined) : given;
  const access = new CallerAccess(settings, restrict);
  const { logins, issuedKeys } = openParts.add(await openAccess(() => access.now, clock.nowMs));
  const core = createNodeCore(node, {
    logins,
    give: faucet && ((request) => faucet.give(request)),
  });
  const servers = await openRpcServers(
    {
      databasePath: directory.chain,
      accountIndex: indexSettings && { path: directory.accountIndex, ...indexSettings },
      spec,
      gasCap: settings.rpc.gasCap,
      viewLimits: caches.view,
      servers: restrict(settings),
      answers: answerSettings(settings, pool),
      issuedKeys,
      spareDescriptors: spareDescriptors(hostLimits()),
    },
    {
      ...{ core, access, pool, admission, chain, accountIndex, shownHead, metrics, logger },
      sync: peering.sync,
      callers: threads,
      visitors: explorer && threadsToLoad(1),
      maxConnections: connectionLimit(hostLimits(), node.readers),
    },
  );
  if (!servers.ok) return servers;
  openParts.add(servers.value);
  openParts.onClose(watchCertificates({ access, clock, logger: logger.child("rpc"), metrics }));
  services.note(servers.value.servers);
  const meteringParts = { settings, directory, logger: logger.child("metrics"), access };
  const metering = await openMetering(metrics, meteringParts);
  if (!metering.ok) return metering;
  const endpoints = { ...servers.value.servers, metrics: openParts.add(metering.value).endpoint };
  services.note(endpoints);
  const written = writePortsFile(dataPath, {
    ...portsByFile(endpoints),
    p2p: network?.endpoint?.port,
    discovery: network?.discoveryPort,
  });
  if (!written.ok) return written;
  openParts.add(written.value);
  await servers.value.begin();
  return ok({ endpoints, access, warmUp: servers.value.warmUp });
}
