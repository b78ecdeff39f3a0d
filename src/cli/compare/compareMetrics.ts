import { createServer } from "node:http";
import { Metrics } from "../../observability/registry.ts";
import { metricsText, TEXT_FORMAT_TYPE } from "../../observability/textFormat.ts";
import { systemClock } from "../../primitives/clock.ts";
import type { Tally } from "./tally.ts";

/** Listening on the metrics port failed. */
export class PortTaken extends Error {
  override name = "PortTaken";
}

export interface MetricsPage {
  close(): void;
}

/** Serves the tally for Prometheus on this machine (metrics.md#comparison). Rejects with PortTaken. */
export async function serveMetrics(port: number, tally: Tally): Promise<MetricsPage> {
  const metrics = new Metrics(
    { categories: new Set(["NODE"]), hasTimers: false },
    { clock: systemClock, stopwatchMs: () => performance.now() },
  );
  const gauge = (name: string, help: string, read: () => number, type: "counter" | "gauge"): void =>
    metrics.family({ category: "NODE", prefix: "compare_", name, help, type }, () => [[[], read()]]);
  gauge("blocks_total", "Blocks compared", () => tally.blocks, "counter");
  gauge("answers_total", "Pairs of answers compared", () => tally.answers, "counter");
  gauge("explained_total", "Documented differences", () => tally.explained, "counter");
  gauge("not_compared_total", "Answers that could not be compared", () => tally.notCompared, "counter");
  gauge("block_number", "Newest block compared", () => Number(tally.newest ?? 0n), "gauge");
  metrics.family(
    {
      category: "NODE",
      prefix: "compare_",
      name: "differences_total",
      help: "Answers that differ without explanation",
      labels: ["method"],
      type: "counter",
    },
    () => [...tally.differencesByMethod].map(([method, count]) => [[method], count] as const),
  );
  metrics.family(
    {
      category: "NODE",
      prefix: "compare_",
      name: "node_up",
      help: "1 while the node answers",
      labels: ["node"],
      type: "gauge",
    },
    () => [
      [["ours"], tally.away.has("ours") ? 0 : 1],
      [["theirs"], tally.away.has("theirs") ? 0 : 1],
    ],
  );
  const server = createServer((request, response) => {
    request.resume();
    void metrics.collect().then((families) => {
      response.setHeader("content-type", TEXT_FORMAT_TYPE);
      response.end(metricsText(families));
    });
  });
  server.maxConnections = 16;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new PortTaken(`--metrics-port=${port}: ${error.message}`)));
    server.listen({ host: "127.0.0.1", port }, resolve);
  });
  return {
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
