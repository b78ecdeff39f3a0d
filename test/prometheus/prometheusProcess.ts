import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, pause, temporaryFolder, until } from "../cluster/harness/nodeProcess.ts";
import { root } from "../docs/documents.ts";

/** Whether Prometheus (Debian: prometheus) is installed. */
export const hasPrometheus = spawnSync("prometheus", ["--version"]).status === 0;

/** A real Prometheus that reads a network's metrics once a second and evaluates config/alerts.yml. */
export interface PrometheusProcess {
  /** Names of the alerts that have fired since the last call of `forget`, each with what it was about. */
  readonly fired: ReadonlySet<string>;
  /** Those that fire now, and those whose condition holds, but not yet for so long that they fire. */
  active(): ReadonlySet<string>;
  forget(): void;
  /** How many series an expression gives now; rejects with what Prometheus says against it. */
  count(expression: string): Promise<number>;
  stop(): Promise<void>;
}

export interface PrometheusTargets {
  /** Ports of the nodes' metrics on loopback, by the name that alerts shall use. */
  readonly ports: Readonly<Record<string, number>>;
  /** All durations of the rules are divided by it. */
  readonly speed: number;
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const DURATION = /(?<=for: |\[|offset )(\d+)([smh])\b/g;

export async function startPrometheus({ ports, speed }: PrometheusTargets): Promise<PrometheusProcess> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "alerts.yml"), rulesFaster(speed));
  writeFileSync(join(folder, "prometheus.yml"), configuration(ports));
  const port = await freePort();
  const child = spawn(
    "prometheus",
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const output = outputOf(child);
  const ended = new Promise((resolve) => child.once("close", resolve));
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await isReady(url)) || undefined, "Prometheus").catch((error: Error) => {
    child.kill("SIGKILL");
    throw new Error(`${error.message}:\n${output()}`);
  });
  const fired = new Set<string>();
  let now: ReadonlySet<string> = new Set();
  let isStopped = false;
  const watching = (async () => {
    while (!isStopped) {
      const found = await activeAlerts(url).catch(() => undefined);
      for (const { name, state } of found ?? []) if (state === "firing") fired.add(name);
      if (found !== undefined) now = new Set(found.map(({ name }) => name));
      await pause(200);
    }
  })();
  return {
    fired,
    active: () => now,
    forget: () => fired.clear(),
    async count(expression) {
      const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
      const { data, error } = (await response.json()) as {
        data?: { result: readonly unknown[] };
        error?: string;
      };
      if (data === undefined) throw new Error(`${expression}: ${error}`);
      return data.result.length;
    },
    async stop() {
      isStopped = true;
      await watching;
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** The rules with shorter durations; the time that a node must have run, in seconds, is shortened too. */
function rulesFaster(speed: number): string {
  return readFileSync(join(root, "config", "alerts.yml"), "utf8")
    .replaceAll(DURATION, (_, count: string, unit: string) => {
      const milliseconds = Math.round((Number(count) * (UNITS_MS[unit] ?? 0)) / speed);
      return `${milliseconds}ms`;
    })
    .replace(/(process_start_time_seconds\{job="ibex"\}\) > )300/, `$1${300 / speed}`);
}

function configuration(ports: Readonly<Record<string, number>>): string {
  const targets = Object.entries(ports).map(([name, port]) => ({
    targets: [`127.0.0.1:${port}`],
    labels: { instance: name },
  }));
  return JSON.stringify({
    global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
    rule_files: ["alerts.yml"],
    scrape_configs: [{ job_name: "ibex", static_configs: targets }],
  });
}

function outputOf(child: ChildProcess): () => string {
  let output = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
  });
  return () => output;
}

function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/-/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

interface ActiveAlert {
  /** Such as `IbexNodeDown v1`, `IbexValidatorMissesTurns 0x…`, `IbexChainStands`. */
  readonly name: string;
  readonly state: "pending" | "firing";
}

async function activeAlerts(url: string): Promise<readonly ActiveAlert[]> {
  const response = await fetch(`${url}/api/v1/alerts`);
  const { data } = (await response.json()) as {
    data: {
      alerts: readonly { state: ActiveAlert["state"]; labels: Readonly<Record<string, string>> }[];
    };
  };
  return data.alerts.map(({ state, labels }) => ({
    state,
    name: [labels["alertname"], labels["instance"] ?? labels["validator"]].filter(Boolean).join(" "),
  }));
}
