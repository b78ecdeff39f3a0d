import type { Metrics } from "../../observability/registry.ts";

/** What the remote signer costs, and how it fails (metrics.md#metrics-of-our-own). */
export interface SignerMetrics {
  /** Duration of a request that was answered, or failed. */
  took(seconds: number): void;
  failed(reason: string): void;
}

export function declareSignerMetrics(
  metrics: Metrics,
  reasons: readonly string[],
  isFailing: () => boolean,
): SignerMetrics {
  const seconds = metrics.summary({
    category: "BFT",
    name: "signer_request_seconds",
    help: "Time of a request to the remote signer, failed ones included, seconds",
  });
  const failures = metrics.counter({
    category: "BFT",
    name: "signer_failures_total",
    help: "Requests to the remote signer that gave no signature in time, by reason",
    labels: ["reason"],
  });
  metrics.gauge(
    { category: "BFT", name: "signer_failing", help: "1 while the remote signer gives no signatures" },
    () => (isFailing() ? 1 : 0),
  );
  for (const reason of reasons) failures.with(reason);
  return {
    took: (taken) => seconds.with().observe(taken),
    failed: (reason) => failures.with(reason).increment(),
  };
}
