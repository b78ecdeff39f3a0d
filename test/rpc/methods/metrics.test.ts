import { describe, expect, it } from "vitest";
import { DEFAULT_METRIC_CATEGORIES } from "../../../src/observability/categories.ts";
import { Metrics } from "../../../src/observability/registry.ts";
import { debugMetrics } from "../../../src/rpc/methods/debug/metrics.ts";
import { aCore } from "../../builders/anRpcBackend.ts";
import { requesterFor } from "../requester.ts";

describe("debug_metrics", () => {
  it("is empty when metrics are disabled", async () => {
    expect(
      await requesterFor([debugMetrics], aCore({ collectMetrics: () => undefined }))("debug_metrics"),
    ).toEqual({});
  });

  it("shows values by category, name and labels; those of a summary also by quantile, sum and count", async () => {
    const metrics = new Metrics(
      { categories: new Set(DEFAULT_METRIC_CATEGORIES), hasTimers: true },
      { clock: { nowMs: () => 0 }, stopwatchMs: () => 0 },
    );
    metrics.gauge({ category: "BLOCKCHAIN", name: "height", help: "" }, () => 7);
    metrics
      .counter({
        category: "RPC",
        prefix: "rpc_",
        name: "requests_rejected_total",
        help: "",
        labels: ["reason"],
      })
      .with("busy")
      .increment();
    metrics.gauge({ category: "NODE", name: "unknown", help: "" }, () => Number.NaN);
    metrics
      .counter({ category: "RPC", name: "calls", help: "", labels: ["method"] })
      .with("a")
      .increment(2);
    metrics
      .summary({ category: "RPC", name: "request_time", help: "", labels: ["method"] })
      .with("a")
      .observe(0.5);
    const shown = await requesterFor(
      [debugMetrics],
      aCore({ collectMetrics: () => metrics.collect() }),
    )("debug_metrics");
    expect(shown).toMatchObject({
      blockchain: { height: 7 },
      node: { unknown: "NaN" },
      rpc: {
        calls_total: { a: 2 },
        requests_rejected_total: { busy: 1 },
        request_time: { a: { quantile: { "0.5": 0.5 }, sum: 0.5, count: 1 } },
      },
    });
  });
});
