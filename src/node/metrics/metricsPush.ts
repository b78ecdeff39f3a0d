import type { MetricsPushSettings } from "../../config/settings.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import { metricsText, TEXT_FORMAT_TYPE } from "../../observability/textFormat.ts";
import type { Clock } from "../../primitives/clock.ts";
import { withTimeLimit } from "../../primitives/timeLimit.ts";

/** Time limit of one push. */
const PUSH_TIMEOUT_MS = 5_000;
/** Time limit of the deletion at the stop. */
const DELETE_TIMEOUT_MS = 1_000;

interface MetricsPushParts {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface MetricsPush {
  /** Deletes the job's metrics at the gateway, so that the last values do not look current. */
  stop(): Promise<void>;
}

/**
 * Sends the metrics to a push gateway (metrics.md#endpoint): first after half an interval, then once per interval.
 * Logs once when the gateway becomes unreachable, and once when it is back.
 */
export function startMetricsPush(settings: MetricsPushSettings, parts: MetricsPushParts): MetricsPush {
  const { host, port, intervalMs, job } = settings;
  const { metrics, clock, logger } = parts;
  const authority = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const url = `http://${authority}/metrics/job/${encodeURIComponent(job)}`;
  const stopping = new AbortController();
  let isFailing = false;
  let inProgress: Promise<void> | undefined;

  async function push(): Promise<void> {
    try {
      const body = metricsText(await metrics.collect());
      const headers = { "Content-Type": TEXT_FORMAT_TYPE };
      await withTimeLimit(PUSH_TIMEOUT_MS, stopping.signal, (signal) =>
        send(url, { method: "POST", headers, body, signal }),
      );
      if (isFailing) logger.info({ url }, "metrics are pushed again");
      isFailing = false;
    } catch (error) {
      if (!isFailing && !stopping.signal.aborted)
        logger.warn({ url, error }, "metrics cannot be pushed; the node keeps trying");
      isFailing = true;
    }
  }

  function begin(): void {
    timer = clock.at(clock.nowMs() + intervalMs, begin);
    inProgress ??= push().finally(() => {
      inProgress = undefined;
    });
  }

  let timer = clock.at(clock.nowMs() + intervalMs / 2, begin);
  return {
    async stop() {
      timer.cancel();
      stopping.abort();
      await inProgress;
      await send(url, { method: "DELETE", signal: AbortSignal.timeout(DELETE_TIMEOUT_MS) }).catch(
        (error: unknown) => logger.warn({ url, error }, "the push gateway keeps the last metrics"),
      );
    },
  };
}

async function send(url: string, request: RequestInit): Promise<void> {
  const response = await fetch(url, request);
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the gateway answers ${response.status}`);
}
