import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { anchorsIn, readDocument, root } from "../docs/documents.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { allMetrics } from "./allMetrics.ts";
import { selectionsIn } from "./expressions.ts";

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const { groups } = parse(readFileSync(join(root, "config", "alerts.yml"), "utf8")) as {
  groups: readonly { readonly rules: readonly AlertRule[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);

const PROMTOOL_TESTS = ["test/prometheus/alerts.test.yml", "test/prometheus/disk.test.yml"];
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
if (!hasPromtool)
  console.warn(
    "SKIPPED: the tests of promtool for config/alerts.yml, for promtool (Debian: prometheus) is not there",
  );

describe("the alerts of config/alerts.yml", () => {
  it("each have a severity, a summary, and a page that tells what to do, which tells of no others", () => {
    const page = "docs/operating/alerts.md";
    const anchors = anchorsIn(readDocument(page));
    const wrong = alerts.filter(
      ({ alert, labels, annotations: { summary, runbook } }) =>
        !["critical", "warning"].includes(labels.severity) ||
        summary === "" ||
        runbook !== `${page}#${alert.toLowerCase()}` ||
        !anchors.has(alert.toLowerCase()),
    );
    expect(wrong.map(({ alert }) => alert)).toEqual([]);
    const named = [...anchors].filter((anchor) => anchor.startsWith("ibex"));
    expect(named.sort()).toEqual(alerts.map(({ alert }) => alert.toLowerCase()).sort());
  });

  it("each appear in the tests of promtool", () => {
    const tests = PROMTOOL_TESTS.map((file) => readFileSync(join(root, file), "utf8")).join("");
    expect(alerts.map(({ alert }) => alert).filter((alert) => !tests.includes(`"${alert}"`))).toEqual([]);
  });

  it("name only metrics and labels that a node has", async () => {
    const families = await allMetrics();
    const unknown = alerts.flatMap(({ alert, expr }) =>
      selectionsIn(expr)
        .filter(({ metric, labels }) => {
          const { job: _, ...own } = labels;
          const samples = families.get(metric)?.samples;
          // A series with labels appears with its first use.
          return (
            samples === undefined ||
            (samples.length > 0 &&
              !samples.some((sample) =>
                Object.entries(own).every(([name, value]) => sample.labels[name] === value),
              ))
          );
        })
        .map(({ metric, labels }) => `${alert}: ${metric} ${JSON.stringify(labels)}`),
    );
    expect(unknown).toEqual([]);
    expect(alerts.flatMap(({ expr }) => selectionsIn(expr)).length).toBeGreaterThan(alerts.length);
  });

  it
    .runIf(IS_THOROUGH && hasPromtool)
    .each([
      ["check", "rules", "config/alerts.yml"],
      ...PROMTOOL_TESTS.map((file) => ["test", "rules", file]),
    ])("pass promtool %s %s %s", (...command) => {
    const { status, stdout, stderr } = spawnSync("promtool", command, { cwd: root, encoding: "utf8" });
    expect({ status, said: `${stdout}${stderr}` }).toMatchObject({ status: 0 });
  });
});
