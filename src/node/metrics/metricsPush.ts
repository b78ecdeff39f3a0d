import type { MetricsPushSettings } from "../../config/settings.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import { metricsText, TEXT_FORMAT_TYPE } from "../../observability/textFormat.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
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

/**
 * Sends the metrics to a push gateway (metrics.md#endpoint): first after half an interval, then once per interval.
 * Logs once when the gateway becomes unreachable, and once when it is back.
 */
export class MetricsPush {
  private readonly parts: MetricsPushParts;
  private readonly intervalMs: number;
  private readonly url: string;
  private readonly stopping = new AbortController();
  private isFailing = false;
  private inProgress: Promise<void> | undefined;
  private timer: Timer;

  constructor({ host, port, intervalMs, job }: MetricsPushSettings, parts: MetricsPushParts) {
    this.parts = parts;
    this.intervalMs = intervalMs;
    const authority = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    this.url = `http://${authority}/metrics/job/${encodeURIComponent(job)}`;
    this.timer = this.schedule(intervalMs / 2);
  }

  /** Deletes the job's metrics at the gateway, so that the last values do not look current. */
  async stop(): Promise<void> {
    const { url } = this;
    this.timer.cancel();
    this.stopping.abort();
    await this.inProgress;
    await send(url, { method: "DELETE", signal: AbortSignal.timeout(DELETE_TIMEOUT_MS) }).catch(
      (error: unknown) => this.parts.logger.warn({ url, error }, "the push gateway keeps the last metrics"),
    );
  }

  private schedule(inMs: number): Timer {
    const { clock } = this.parts;
    return clock.at(clock.nowMs() + inMs, () => {
      this.timer = this.schedule(this.intervalMs);
      this.inProgress ??= this.push().finally(() => {
        this.inProgress = undefined;
      });
    });
  }

  private async push(): Promise<void> {
    const { url, stopping } = this;
    const { metrics, logger } = this.parts;
    try {
      const body = metricsText(await metrics.collect());
      const headers = { "Content-Type": TEXT_FORMAT_TYPE };
      await withTimeLimit(PUSH_TIMEOUT_MS, stopping.signal, (signal) =>
        send(url, { method: "POST", headers, body, signal }),
      );
      if (this.isFailing) logger.info({ url }, "metrics are pushed again");
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing && !stopping.signal.aborted)
        logger.warn({ url, error }, "metrics cannot be pushed; the node keeps trying");
      this.isFailing = true;
    }
  }
}

async function send(url: string, request: RequestInit): Promise<void> {
  const response = await fetch(url, request);
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the gateway answers ${response.status}`);
}
