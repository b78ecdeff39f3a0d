import type { Settings } from "../config/settings.ts";
import type { Logger } from "../observability/logger.ts";
import type { ConnectionLimits } from "../rpc/server/connectionLimits.ts";
import { HANDSHAKES } from "../rpc/server/tls/handshakeLimits.ts";

type ConfiguredServers = Pick<Settings, "http" | "webSocket" | "explorer">;

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
  { http, webSocket, explorer }: ConfiguredServers,
  { maxConnections: limit, threads, logger }: OpenFilesParts,
): ConfiguredServers {
  const servers = [http, webSocket, explorer];
  const ports = [http, webSocket].filter((server) => server?.tls !== undefined).length;
  const handshakes = ports * threads * HANDSHAKES;
  const wanted = servers.reduce((sum, server) => sum + (server?.maxConnections ?? 0), handshakes);
  if (limit === undefined || wanted <= limit) return { http, webSocket, explorer };
  const included = handshakes === 0 ? "" : `, ${handshakes} of them for TLS handshakes`;
  logger.warn(
    { wanted, limit },
    `the limit of open files allows only ${limit} connections, fewer than the ${wanted} configured${included}: raise it (ulimit -n)`,
  );
  const share = (connections: number): number => Math.max(1, Math.floor((connections * limit) / wanted));
  const maxHandshakes = share(HANDSHAKES);
  const withShare = <D extends ConnectionLimits>(server: D): D => ({
    ...server,
    maxConnections: share(server.maxConnections),
    maxConnectionsPerAddress: share(server.maxConnectionsPerAddress),
  });
  return {
    http: http && { ...withShare(http), maxHandshakes },
    webSocket: webSocket && { ...withShare(webSocket), maxHandshakes },
    explorer: explorer && withShare(explorer),
  };
}
