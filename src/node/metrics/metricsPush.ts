import type { MetricsPushSettings } from "../../config/settings.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import { metricsText, TEXT_FORMAT_TYPE } from "../../observability/textFormat.ts";
import type { Clock } from "../../primitives/clock.ts";

/** A gateway that takes longer is given up for this time. */
const PATIENCE_MS = 5_000;
/** At the end the node waits no longer than this for the gateway to forget it. */
const FAREWELL_MS = 1_000;

export interface MetricsPushParts {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface MetricsPush {
  /** Takes the job's metrics away from the gateway, so that nobody takes the last ones for news. */
  stop(): Promise<void>;
}

/**
 * Sends the metrics to a push gateway (metrics.md#endpoint): first after half an interval, then once in each.
 * A gateway that cannot be reached costs one line in the log, and another when it is back.
 */
export function startMetricsPush(settings: MetricsPushSettings, parts: MetricsPushParts): MetricsPush {
  const { host, port, intervalMs, job } = settings;
  const { metrics, clock, logger } = parts;
  const authority = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const url = `http://${authority}/metrics/job/${encodeURIComponent(job)}`;
  const ending = new AbortController();
  let isFailing = false;
  let underWay: Promise<void> | undefined;

  async function push(): Promise<void> {
    try {
      await send(url, {
        method: "POST",
        headers: { "Content-Type": TEXT_FORMAT_TYPE },
        body: metricsText(await metrics.collect()),
        signal: AbortSignal.any([ending.signal, AbortSignal.timeout(PATIENCE_MS)]),
      });
      if (isFailing) logger.info({ url }, "metrics are pushed again");
      isFailing = false;
    } catch (error) {
      if (!isFailing && !ending.signal.aborted)
        logger.warn({ url, error }, "metrics cannot be pushed; it goes on being tried");
      isFailing = true;
    }
  }

  function begin(): void {
    timer = clock.at(clock.nowMs() + intervalMs, begin);
    underWay ??= push().finally(() => {
      underWay = undefined;
    });
  }

  let timer = clock.at(clock.nowMs() + intervalMs / 2, begin);
  return {
    async stop() {
      timer.cancel();
      ending.abort();
      await underWay;
      await send(url, { method: "DELETE", signal: AbortSignal.timeout(FAREWELL_MS) }).catch(
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
