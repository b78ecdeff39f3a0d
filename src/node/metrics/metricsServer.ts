import type { IncomingMessage, ServerResponse } from "node:http";
import type { MetricsServerSettings } from "../../config/settings.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import { metricsText, TEXT_FORMAT_TYPE } from "../../observability/textFormat.ts";
import type { Result } from "../../primitives/result.ts";
import type { ConnectionLimits } from "../../rpc/server/connectionLimits.ts";
import { respondNotAllowed, respondNotFound, respondRefusal } from "../../rpc/server/httpResponse.ts";
import { Listener } from "../../rpc/server/listener.ts";
import type { RpcServer, ServerErrorCode } from "../../rpc/server/server.ts";

/**
 * Enough for a few scrapers, and some stuck connections. A remote host has half of them at most, those of this machine too, so
 * that another one can scrape in any case; one that sends no whole request makes room for the next.
 */
const LIMITS: ConnectionLimits = {
  maxConnections: 32,
  maxConnectionsPerAddress: 16,
  proxyAddresses: [],
};

interface MetricsServerParts {
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** The settings of now, asked for each request; those of the start if not given. */
  readonly current?: () => MetricsServerSettings;
}

/**
 * Serves the metrics to Prometheus (metrics.md#endpoint). A response is a complete text before its first byte is sent,
 * so a slow scraper only holds that text, until the idle timeout closes its connection.
 */
export async function openMetricsServer(
  settings: MetricsServerSettings,
  { metrics, ...parts }: MetricsServerParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const { logger } = parts;
  const { idleTimeoutMs } = settings;
  const listener = new Listener(
    {
      ...LIMITS,
      ...settings,
      limitOption: undefined,
      keepAliveMs: idleTimeoutMs,
      idleMs: idleTimeoutMs,
    },
    parts,
  );
  listener.onRequest(answer);

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

  return listener.open();
}

/** The samples selected with `name[]=`; undefined for all. */
function namesIn(query: string | undefined): ReadonlySet<string> | undefined {
  const names = new URLSearchParams(query).getAll("name[]");
  return names.length === 0 ? undefined : new Set(names);
}
