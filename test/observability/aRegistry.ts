import { METRIC_CATEGORIES } from "../../src/observability/categories.ts";
import { Metrics } from "../../src/observability/registry.ts";
import { metricsText } from "../../src/observability/textFormat.ts";
import { parseExposition, sampleValue } from "./exposition.ts";

/** A registry with every category, and clocks that stand still. */
export function aRegistry(): Metrics {
  return new Metrics(
    { categories: new Set(METRIC_CATEGORIES), hasTimers: true },
    { clock: { nowMs: () => 0 }, stopwatchMs: () => 0 },
  );
}

/** The current value of one sample, as a scraper reads it. */
export async function readSample(
  metrics: Metrics,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  return sampleValue(parseExposition(metricsText(await metrics.collect())), name, labels);
}
