import type { Logger } from "../observability/logger.ts";
import { GUARDED_SERVERS, THREAD_SERVERS } from "../rpc/server/serverTable.ts";
import { HANDSHAKES } from "../rpc/server/tls/handshakeLimits.ts";
import { mapServers, type ServerSettings } from "./threads/serverSettings.ts";

export interface OpenFilesParts {
  /**
   * Limit of the connections of all servers, the explorer's and those that begin included, from the limit of open files;
   * undefined when that is unknown.
   */
  readonly maxConnections: number | undefined;
  /** Number of the threads that answer callers. */
  readonly threads: number;
  readonly logger: Logger;
}

/**
 * Reduces the limits of the servers, for connections and for TLS handshakes, by the same factor when there are too few open files
 * for all.
 */
export function fitToOpenFiles(
  configured: ServerSettings,
  { maxConnections: limit, threads, logger }: OpenFilesParts,
): ServerSettings {
  const servers = THREAD_SERVERS.flatMap((name) => configured[name] ?? []);
  const ports = GUARDED_SERVERS.filter((name) => configured[name]?.tls !== undefined).length;
  const handshakes = ports * threads * HANDSHAKES;
  const wanted = servers.reduce((sum, { maxConnections }) => sum + maxConnections, handshakes);
  if (limit === undefined || wanted <= limit) return configured;
  const included = handshakes === 0 ? "" : `, ${handshakes} of them for TLS handshakes`;
  logger.warn(
    { wanted, limit },
    `the limit of open files allows only ${limit} connections, fewer than the ${wanted} configured${included}: raise it (ulimit -n)`,
  );
  const share = (connections: number): number => Math.max(1, Math.floor((connections * limit) / wanted));
  const maxHandshakes = share(HANDSHAKES);
  return mapServers(configured, THREAD_SERVERS, (server) => ({
    ...server,
    maxConnections: share(server.maxConnections),
    maxConnectionsPerAddress: share(server.maxConnectionsPerAddress),
    maxHandshakes,
  }));
}
