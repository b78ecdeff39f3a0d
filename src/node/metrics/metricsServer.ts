import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { MetricsServerSettings } from "../../config/settings.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import { metricsText, TEXT_FORMAT_TYPE } from "../../observability/textFormat.ts";
import { ok, type Result } from "../../primitives/result.ts";
import { remade } from "../../rpc/remade.ts";
import { type ConnectionLimits, limitConnections } from "../../rpc/server/connectionLimits.ts";
import { createHostAllowlist } from "../../rpc/server/hostAllowlist.ts";
import { createHostRefusalLog, respondProbeRefused } from "../../rpc/server/hostRefusal.ts";
import { respondNotAllowed, respondNotFound, respondRefusal } from "../../rpc/server/httpResponse.ts";
import { ARRIVAL_LIMIT_MS, ARRIVAL_TIMES, CLOSING_LIMIT_MS } from "../../rpc/server/limits.ts";
import { listen, listening, portOf, type RpcServer, type ServerErrorCode } from "../../rpc/server/server.ts";

/**
 * Enough for a few scrapers, and some stuck connections. A remote host has half of them at most, those of this machine too, so
 * that another one can scrape in any case; one that sends no whole request makes room for the next.
 */
const LIMITS: ConnectionLimits = {
  maxActiveConnections: 32,
  maxConnectionsPerAddress: 16,
  proxyAddresses: [],
};

export interface MetricsServerParts {
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Read for each request; those of the settings by default. */
  readonly allowedHosts?: () => readonly string[];
}

/**
 * Serves the metrics to Prometheus (metrics.md#endpoint). A response is a complete text before its first byte is sent,
 * so a slow scraper only holds that text, until the idle timeout closes its connection.
 */
export async function openMetricsServer(
  { host, port, hostAllowlist, idleTimeoutMs }: MetricsServerSettings,
  { metrics, logger, allowedHosts = () => hostAllowlist }: MetricsServerParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const checkHost = remade(allowedHosts, createHostAllowlist);
  const logHostRefusal = createHostRefusalLog(logger);
  const server = createServer(
    {
      requireHostHeader: false,
      requestTimeout: ARRIVAL_LIMIT_MS,
      headersTimeout: ARRIVAL_TIMES.headersMs,
      connectionsCheckingInterval: ARRIVAL_TIMES.checkMs,
      keepAliveTimeout: idleTimeoutMs,
    },
    (request, response) => {
      response.sendDate = false;
      const hostCheck = checkHost()(request.headers.host);
      if (hostCheck === "allowed") return answer(request, response);
      logHostRefusal(request);
      respondProbeRefused(response, hostCheck, request.headers.host);
    },
  );
  server.setTimeout(idleTimeoutMs, (socket) => socket.destroy());
  const connections = limitConnections(server, LIMITS, {
    option: undefined,
    logger,
    onRefused: () => undefined,
    isTls: false,
  });

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const [path = "/", query] = (request.url ?? "/").split("?");
    if (path !== "/" && path !== "/metrics") respondNotFound(response);
    else if (request.method !== "GET") respondNotAllowed(response, "GET");
    else if (path === "/") respondRefusal(response, 201, "");
    else void respondMetrics(response, namesIn(query));
  }

  async function respondMetrics(
    response: ServerResponse,
    names: ReadonlySet<string> | undefined,
  ): Promise<void> {
    try {
      respondRefusal(response, 200, metricsText(await metrics.collect(), names), TEXT_FORMAT_TYPE);
    } catch (error) {
      logger.error({ error }, "the metrics could not be read");
      respondRefusal(response, 500, "");
    }
  }

  const listened = await listening(() => listen(server, host, port), host, port);
  if (!listened.ok) return listened;
  return ok({
    host,
    port: portOf(server),
    get connectionCount() {
      return connections.count;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      connections.cutSilent();
      const cut = setTimeout(() => server.closeAllConnections(), CLOSING_LIMIT_MS);
      await closed;
      clearTimeout(cut);
    },
  });
}

/** The samples selected with `name[]=`; undefined for all. */
function namesIn(query: string | undefined): ReadonlySet<string> | undefined {
  const names = new URLSearchParams(query).getAll("name[]");
  return names.length === 0 ? undefined : new Set(names);
}
