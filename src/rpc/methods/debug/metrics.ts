import type { MetricFamily, Sample } from "../../../observability/registry.ts";
import { defineMethod, type Json } from "../../method.ts";
import { OBJECT } from "../../schemas.ts";

export const debugMetrics = defineMethod({
  name: "debug_metrics",
  namespace: "DEBUG",
  summary: "All metrics of the node, by category, name and labels; empty when metrics are disabled.",
  parameters: [],
  result: { name: "metrics", schema: OBJECT },
  ports: ["node"],
  mayOverlap: "many",
  async run(_, context) {
    const tree: Tree = new Map();
    for (const family of await context.backend.node.metrics(context)) addFamily(tree, family);
    return toObject(tree);
  },
});

/** A value, or a subtree by name. */
type Tree = Map<string, Tree | number>;

function addFamily(tree: Tree, family: MetricFamily): void {
  const below = branch(tree, family.category.toLowerCase());
  for (const sample of family.samples) {
    const path = pathOf(family, sample);
    let level = below;
    for (const name of path.slice(0, -1)) level = branch(level, name);
    level.set(path.at(-1) ?? "", sample.value);
  }
}

/** The name within its category, then the label values; a summary's last steps say which figure it is. */
function pathOf({ name, prefix, type }: MetricFamily, sample: Sample): string[] {
  const labels = sample.labels.map(([, value]) => value);
  if (type !== "summary") return [sample.name.slice(prefix.length), ...labels];
  const figure = sample.name.slice(name.length + 1);
  const kind = figure === "" ? ["quantile", labels.at(-1) ?? ""] : [figure];
  const others = figure === "" ? labels.slice(0, -1) : labels;
  return [name.slice(prefix.length), ...others, ...kind];
}

function branch(tree: Tree, name: string): Tree {
  const known = tree.get(name);
  if (known instanceof Map) return known;
  const made: Tree = new Map();
  tree.set(name, made);
  return made;
}

/** NaN and infinities are text, as in Besu's JSON. */
function toObject(tree: Tree): Json {
  const members = [...tree].map(([name, value]) => {
    if (value instanceof Map) return [name, toObject(value)];
    return [name, Number.isFinite(value) ? value : String(value)];
  });
  return Object.fromEntries(members);
}
