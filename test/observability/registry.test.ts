import { describe, expect, it } from "vitest";
import { DEFAULT_METRIC_CATEGORIES, METRIC_CATEGORIES } from "../../src/observability/categories.ts";
import { Metrics } from "../../src/observability/registry.ts";
import { metricsText } from "../../src/observability/textFormat.ts";
import { parseExposition } from "./exposition.ts";

const CREATED_AT_MS = 1_700_000_000_000;

function aRegistry(settings: Partial<ConstructorParameters<typeof Metrics>[0]> = {}) {
  const time = { wallMs: CREATED_AT_MS, stopwatchMs: 0 };
  const metrics = new Metrics(
    { categories: new Set(METRIC_CATEGORIES), hasTimers: true, ...settings },
    { clock: { nowMs: () => time.wallMs }, stopwatchMs: () => time.stopwatchMs },
  );
  return { metrics, time };
}

async function textOf(metrics: Metrics, ...names: readonly string[]): Promise<string> {
  return metricsText(await metrics.collect(), names.length === 0 ? undefined : new Set(names));
}

describe("names and types match Besu's", () => {
  it("for a counter: _total once, and a _created gauge", async () => {
    const { metrics } = aRegistry();
    metrics.counter({ category: "RPC", name: "errors_count", help: "Errors" }).with().increment(3);
    metrics.counter({ category: "TRANSACTION_POOL", name: "added_total", help: "Added" }).with().increment();
    expect(await textOf(metrics)).toBe(
      [
        "# HELP besu_rpc_errors_count_total Errors",
        "# TYPE besu_rpc_errors_count_total counter",
        "besu_rpc_errors_count_total 3",
        "# HELP besu_rpc_errors_count_created Errors",
        "# TYPE besu_rpc_errors_count_created gauge",
        "besu_rpc_errors_count_created 1700000000",
        "# HELP besu_transaction_pool_added_total Added",
        "# TYPE besu_transaction_pool_added_total counter",
        "besu_transaction_pool_added_total 1",
        "# HELP besu_transaction_pool_added_created Added",
        "# TYPE besu_transaction_pool_added_created gauge",
        "besu_transaction_pool_added_created 1700000000",
        "",
      ].join("\n"),
    );
  });

  it("for a gauge: as declared, even if it ends in _total, and read each time", async () => {
    const { metrics } = aRegistry();
    let height = 5;
    metrics.gauge({ category: "BLOCKCHAIN", name: "difficulty_total", help: "Work" }, () => height);
    expect(await textOf(metrics)).toContain("\nbesu_blockchain_difficulty_total 5\n");
    height = 6;
    expect(await textOf(metrics)).toContain("\nbesu_blockchain_difficulty_total 6\n");
  });

  it("for a summary: six quantiles written as in Besu, _count, _sum and _created", async () => {
    const { metrics } = aRegistry();
    const times = metrics.summary({
      category: "RPC",
      name: "request_time",
      help: "T",
      labels: ["methodName"],
    });
    times.with("eth_call").observe(0.25);
    const lines = (await textOf(metrics)).split("\n").filter((line) => !line.startsWith("#") && line !== "");
    expect(lines).toEqual([
      ...["0.2", "0.5", "0.8", "0.95", "0.99", "1.0"].map(
        (quantile) => `besu_rpc_request_time{methodName="eth_call",quantile="${quantile}"} 0.25`,
      ),
      'besu_rpc_request_time_count{methodName="eth_call"} 1',
      'besu_rpc_request_time_sum{methodName="eth_call"} 0.25',
      'besu_rpc_request_time_created{methodName="eth_call"} 1700000000',
    ]);
  });

  it("for a labelled series: present only after its first use", async () => {
    const { metrics, time } = aRegistry();
    const errors = metrics.counter({ category: "RPC", name: "errors_count", help: "E", labels: ["a", "b"] });
    expect(await textOf(metrics)).toBe(
      "# HELP besu_rpc_errors_count_total E\n# TYPE besu_rpc_errors_count_total counter\n",
    );
    time.wallMs += 5000;
    errors.with("x", "y").increment();
    errors.with("x", "y").increment();
    expect(await textOf(metrics)).toContain('besu_rpc_errors_count_total{a="x",b="y"} 2\n');
    expect(await textOf(metrics)).toContain('besu_rpc_errors_count_created{a="x",b="y"} 1700000005\n');
  });
});

describe("a registry", () => {
  it("has no output for disabled categories and timers, which callers may still use", async () => {
    const { metrics } = aRegistry({ categories: new Set(["JVM"]), hasTimers: false });
    metrics.counter({ category: "RPC", name: "errors_count", help: "E" }).with().increment();
    metrics.gauge({ category: "RPC", name: "g", help: "G" }, () => 1);
    metrics.summary({ category: "JVM", name: "s", help: "S" }).with().observe(1);
    expect(await textOf(metrics)).toBe("");
    expect([metrics.isEnabled("JVM"), metrics.isEnabled("RPC")]).toEqual([true, false]);
  });

  it("leaves out the key-value store by default", () => {
    expect(METRIC_CATEGORIES.filter((each) => !DEFAULT_METRIC_CATEGORIES.includes(each))).toEqual([
      "KVSTORE_ROCKSDB",
      "KVSTORE_PRIVATE_ROCKSDB",
      "KVSTORE_ROCKSDB_STATS",
      "KVSTORE_PRIVATE_ROCKSDB_STATS",
    ]);
  });

  it("throws for two metrics of one name", () => {
    const { metrics } = aRegistry();
    metrics.gauge({ category: "RPC", name: "g", help: "G" }, () => 1);
    expect(() => metrics.gauge({ category: "RPC", name: "g", help: "G" }, () => 2)).toThrow("besu_rpc_g");
  });

  it("waits for asynchronous values before a collection, and ignores failing ones", async () => {
    const { metrics } = aRegistry();
    let free = 0;
    metrics.beforeRead(async () => {
      free = await Promise.resolve(7);
    });
    metrics.beforeRead(() => Promise.reject(new Error("no disk")));
    metrics.gauge({ category: "NODE", name: "disk_free_bytes", help: "Free" }, () => free);
    expect(await textOf(metrics)).toContain("node_disk_free_bytes 7\n");
  });

  it("returns only the samples requested by name, under their HELP and TYPE", async () => {
    const { metrics } = aRegistry();
    metrics.summary({ category: "BFT", name: "commit_seconds", help: "C" }).with().observe(1);
    metrics.gauge({ category: "BFT", name: "height", help: "H" }, () => 3);
    expect(await textOf(metrics, "bft_commit_seconds_count", "absent")).toBe(
      "# HELP bft_commit_seconds C\n# TYPE bft_commit_seconds summary\nbft_commit_seconds_count 1\n",
    );
  });

  it("writes any label values so that a strict parser gets them back unchanged", async () => {
    const { metrics } = aRegistry();
    const odd = 'back\\slash "quoted"\nand more, {}=';
    metrics.gauges(
      { category: "JVM", name: "odd", help: "One\\two\nthree", labels: ["what", "else"] },
      () => [
        [[odd, ""], Number.POSITIVE_INFINITY],
        [["x", "y"], Number.NaN],
        [["x", odd], 1e-9],
      ],
    );
    expect(parseExposition(await textOf(metrics)).get("jvm_odd")).toMatchObject({
      type: "gauge",
      samples: [
        { labels: { what: odd, else: "" }, value: Number.POSITIVE_INFINITY },
        { labels: { what: "x", else: "y" }, value: Number.NaN },
        { labels: { what: "x", else: odd }, value: 1e-9 },
      ],
    });
  });
});
