import type { Metrics } from "../observability/registry.ts";

/** Counts the questions to a list or contract and its answers, under Besu's names (metrics.md#permissioning). */
export class CheckCounts {
  private readonly counted: Readonly<
    Record<"asked" | "permitted" | "denied", { increment(): void } | undefined>
  >;

  /** `name` begins the names of the metrics, `noun` names the contract in their help. */
  constructor(metrics: Metrics | undefined, name: string, noun: string) {
    const counter = (suffix: string, end: string) =>
      metrics
        ?.counter({
          category: "PERMISSIONING",
          name: `${name}_check_count${suffix}`,
          help: `Number of times that the ${noun} was asked${end}`,
        })
        .with();
    this.counted = {
      asked: counter("", ""),
      permitted: counter("_permitted", ", and permitted"),
      denied: counter("_unpermitted", ", and did not permit"),
    };
  }

  asked(): void {
    this.counted.asked?.increment();
  }

  answered(answer: "permitted" | "denied"): void {
    this.counted[answer]?.increment();
  }
}
