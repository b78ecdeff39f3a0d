import { describe, expect, it } from "vitest";
import { findOption } from "../../src/config/options.ts";
import { readSettings } from "../../src/config/readSettings.ts";
import type { MetricsSettings } from "../../src/config/settings.ts";
import { DEFAULT_METRIC_CATEGORIES } from "../../src/observability/categories.ts";

/** Settings of the development network with these options, each of the form name=value. */
function read(...options: readonly string[]) {
  const raw = options.map((option) => {
    const [spelling = "", text = ""] = option.split("=");
    const name = findOption(spelling);
    if (name === undefined) throw new Error(`no option ${spelling}`);
    return { name, text, source: { kind: "commandLine" } as const };
  });
  return readSettings({ raw, environment: {}, workingDirectory: "/nowhere", isTerminal: false });
}

function metricsOf(...options: readonly string[]): MetricsSettings | undefined {
  const outcome = read(...options);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value.metrics;
}

function warningsOf(...options: readonly string[]): readonly string[] {
  const outcome = read(...options);
  return outcome.ok ? outcome.value.warnings : [];
}

function refusal(...options: readonly string[]): string {
  const outcome = read(...options);
  return outcome.ok ? "" : outcome.error.message;
}

const ON = "metrics-enabled=true";

describe("the options for metrics", () => {
  it("are off by default", () => {
    expect(metricsOf()).toBeUndefined();
    expect(metricsOf("metrics-port=1")).toBeUndefined();
  });

  it("serve Besu's default categories on its port, to the hosts of the other servers", () => {
    expect(metricsOf(ON)).toEqual({
      categories: new Set(DEFAULT_METRIC_CATEGORIES),
      hasTimers: true,
      server: {
        host: "127.0.0.1",
        port: 9545,
        hostAllowlist: ["localhost", "127.0.0.1"],
        idleTimeoutMs: 60_000,
      },
    });
  });

  it("push to Besu's default gateway and job", () => {
    expect(metricsOf("metrics-push-enabled=true", "metrics-push-interval=7")).toMatchObject({
      push: { host: "127.0.0.1", port: 9001, intervalMs: 7000, job: "besu-client" },
    });
    expect(metricsOf("metrics-push-enabled=true")?.server).toBeUndefined();
  });

  it("accept categories in any case, under either name, and refuse others with Besu's message", () => {
    const some = new Set(["JVM", "BLOCKCHAIN"]);
    expect(metricsOf(ON, "metrics-category=jvm,Blockchain")?.categories).toEqual(some);
    expect(metricsOf(ON, "metrics-categories=JVM,BLOCKCHAIN")?.categories).toEqual(some);
    expect(refusal(ON, "metrics-category=RPC,MINING")).toContain(
      "Invalid value for option '--metrics-categories': Unknown category: MINING",
    );
  });

  it("cannot both be scraped and pushed, nor share a port with another server", () => {
    expect(refusal(ON, "metrics-push-enabled=true")).toMatch(
      /^--metrics-enabled option and --metrics-push-enabled option can't be used at the same time\./,
    );
    expect(refusal(ON, "metrics-port=8545")).toMatch(
      /^Port number '8545' has been specified multiple times\. Please review the supplied configuration\./,
    );
    expect(refusal("metrics-port=8545")).toBe("");
  });

  it("know protocols: NONE is off, OPENTELEMETRY is treated as PROMETHEUS with a warning", () => {
    expect(metricsOf(ON, "metrics-protocol=none")).toBeUndefined();
    expect(metricsOf(ON, "metrics-protocol=opentelemetry")?.server).toBeDefined();
    expect(warningsOf(ON, "metrics-protocol=opentelemetry")).toEqual([
      "--metrics-protocol=OPENTELEMETRY is not supported and treated as PROMETHEUS: an OpenTelemetry collector can scrape the metrics.",
    ]);
  });

  it("warn of categories without metrics", () => {
    expect(warningsOf(ON, "metrics-category=RPC,PRUNER,KVSTORE_ROCKSDB")).toEqual([
      "--metrics-category names PRUNER, KVSTORE_ROCKSDB, for which this node has no metrics.",
    ]);
  });

  it("warn when metrics are off", () => {
    expect(warningsOf("metrics-category=RPC,PRUNER")).toEqual([
      "metrics-category has been ignored because neither --metrics-enabled nor --metrics-push-enabled is given.",
    ]);
  });

  it("leave out timers on demand, and warn of options without their switch", () => {
    expect(metricsOf(ON, "Xmetrics-timers-enabled=false")?.hasTimers).toBe(false);
    expect(warningsOf(ON, "metrics-push-port=1")).toEqual([
      "metrics-push-port has been ignored because --metrics-push-enabled was not defined on the command line.",
    ]);
  });
});
