import type { MetricFamily, Sample } from "./registry.ts";

export const TEXT_FORMAT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Writes families in Prometheus's text format 0.0.4. With `names`, only samples of these names and their families;
 * otherwise also families without samples yet, except for `_created` ones.
 */
export function metricsText(families: readonly MetricFamily[], names?: ReadonlySet<string>): string {
  let text = "";
  for (const { name, type, help, samples } of families) {
    const shown = names === undefined ? samples : samples.filter((each) => names.has(each.name));
    if (shown.length === 0 && (names !== undefined || name.endsWith("_created"))) continue;
    text += `# HELP ${name} ${escapeLine(help)}\n# TYPE ${name} ${type}\n`;
    for (const each of shown) text += `${each.name}${labelsText(each.labels)} ${valueText(each.value)}\n`;
  }
  return text;
}

function labelsText(labels: Sample["labels"]): string {
  if (labels.length === 0) return "";
  return `{${labels.map(([name, value]) => `${name}="${escapeLine(value).replaceAll('"', '\\"')}"`).join(",")}}`;
}

function escapeLine(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}
