import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { temporaryFolder } from "../cluster/harness/nodeProcess.ts";
import { root } from "../docs/documents.ts";
import { allMetrics } from "../prometheus/allMetrics.ts";
import { selectionsIn } from "../prometheus/expressions.ts";
import { isInstalled, saySkipped } from "./installed.ts";

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly w: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const FOLDER = join(root, "config", "grafana");
const board = JSON.parse(readFileSync(join(FOLDER, "ibex.json"), "utf8")) as {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
};
const panels = board.panels.filter(({ type }) => type !== "row");
const expressions = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

const hasPromtool = isInstalled("promtool");
if (!hasPromtool) saySkipped("the syntax of the board's expressions", "promtool", "prometheus");

describe("the board config/grafana/ibex.json", () => {
  it("has panels that fit, each with a number of its own, a description and an expression", () => {
    const wrong = panels.filter(
      ({ description, targets, gridPos: { x, w } }) =>
        description === undefined || targets === undefined || targets.length === 0 || x + w > 24,
    );
    expect(wrong.map(({ title }) => title)).toEqual([]);
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
    expect(panels.length).toBeGreaterThan(30);
  });

  it("shows only metrics, and picks only labels, that a node has", async () => {
    const families = [...(await allMetrics())].flatMap(([name, family]) =>
      (family.type === "summary" ? ["", "_count", "_sum"] : [""]).map((end) => [name + end, family] as const),
    );
    const known = new Map(families);
    const unknown = expressions.flatMap(({ title, expr }) =>
      selectionsIn(expr)
        .filter(({ metric, labels }) => {
          const samples = known.get(metric)?.samples;
          const has = (name: string, value: string) => samples?.some((one) => one.labels[name] === value);
          return (
            samples === undefined ||
            (samples.length > 0 && !Object.entries(labels).every(([name, value]) => has(name, value)))
          );
        })
        .map(({ metric }) => `${title}: ${metric}`),
    );
    expect(unknown).toEqual([]);
  });

  it.skipIf(!hasPromtool)("has only expressions that Prometheus understands", () => {
    const all = [...expressions.map(({ expr }) => expr), ...board.annotations.list.map(({ expr }) => expr)];
    const rules = all.map((expr, index) => ({
      record: `board:expression_${index}`,
      expr: expr
        .replaceAll("$__rate_interval", "1m")
        .replaceAll("$instance", ".*")
        .replaceAll("$job", "ibex"),
    }));
    const file = join(temporaryFolder(), "board.yml");
    writeFileSync(file, JSON.stringify({ groups: [{ name: "board", rules }] }));
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", file], { encoding: "utf8" });
    expect({ status, said: `${stdout}${stderr}` }).toMatchObject({ status: 0 });
  });

  it("is provisioned with the Prometheus that its variable finds", () => {
    const read = (path: string): unknown =>
      parse(readFileSync(join(FOLDER, "provisioning", path), "utf8")) as unknown;
    expect(read("datasources/prometheus.yml")).toMatchObject({
      apiVersion: 1,
      datasources: [{ type: "prometheus", isDefault: true }],
    });
    expect(read("dashboards/ibex.yml")).toMatchObject({
      apiVersion: 1,
      providers: [{ type: "file", options: { path: "/var/lib/grafana/dashboards" } }],
    });
  });
});
