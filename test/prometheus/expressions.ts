/** Words of PromQL that are not names of metrics. */
const WORDS = new Set(
  (
    "abs and avg avg_over_time bool by changes clamp_max clamp_min count delta deriv group_left group_right ignoring increase " +
    "irate label_replace max max_over_time min min_over_time offset on or predict_linear quantile quantile_over_time rate sum " +
    "time timestamp topk unless vector without"
  ).split(" "),
);

/** Metrics of Prometheus itself. */
const OWN = new Set(["up"]);

/** The series that an expression reads, each with the labels it picks by an exact value. */
export interface Selected {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** What a PromQL expression selects; template variables of Grafana (`$instance`) are left out. */
export function selectionsIn(expression: string): readonly Selected[] {
  const plain = expression
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, " ")
    .replaceAll(/\[[^\]]*\]/g, " ")
    .replaceAll(/\boffset\s+\S+/g, " ");
  return [...plain.matchAll(/(?<![\w.])([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?/g)].flatMap(
    ([, metric = "", selector]) => {
      if (WORDS.has(metric) || OWN.has(metric)) return [];
      const pairs = [...(selector ?? "").matchAll(/(\w+)\s*=\s*"([^"$]*)"/g)];
      return [
        { metric, labels: Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value])) },
      ];
    },
  );
}
