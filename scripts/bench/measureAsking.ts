import type { Contender } from "./contenders.ts";
import type { BenchRequester } from "./httpRequester.ts";
import { atQuantile } from "./report.ts";

interface Asked {
  /** Requests that were answered, after the warm-up. */
  readonly count: number;
  readonly perSecond: number;
  readonly p99Ms: number;
  /** CPU time of the node per request, µs. */
  readonly cpuMicroseconds: number;
}

/**
 * Has each requester ask one request after another for so long, after a warm-up that compiles code and fills caches and does not
 * count, and closes them all.
 */
export async function measureAsking(
  node: Pick<Contender, "cpuSeconds">,
  requesters: readonly BenchRequester[],
  times: { readonly warmUpSeconds: number; readonly seconds: number },
  askOnce: (requester: BenchRequester) => Promise<void>,
): Promise<Asked> {
  async function askFor(seconds: number): Promise<readonly number[]> {
    const latenciesMs: number[] = [];
    const stopAtMs = performance.now() + seconds * 1000;
    const keepAsking = async (requester: BenchRequester): Promise<void> => {
      while (performance.now() < stopAtMs) {
        const askedAtMs = performance.now();
        await askOnce(requester);
        latenciesMs.push(performance.now() - askedAtMs);
      }
    };
    await Promise.all(requesters.map(keepAsking));
    return latenciesMs;
  }

  await askFor(times.warmUpSeconds);
  const cpuBefore = node.cpuSeconds();
  const startedAtMs = performance.now();
  const latenciesMs = await askFor(times.seconds);
  const tookSeconds = (performance.now() - startedAtMs) / 1000;
  const cpuSeconds = node.cpuSeconds() - cpuBefore;
  for (const requester of requesters) requester.close();
  const count = latenciesMs.length;
  return {
    count,
    perSecond: count / tookSeconds,
    p99Ms: atQuantile(latenciesMs, 0.99),
    cpuMicroseconds: (cpuSeconds * 1e6) / count,
  };
}
