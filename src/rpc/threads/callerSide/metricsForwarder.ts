import type { RpcCount } from "../../rpcMetrics.ts";
import { addWithin, type SharedTotal } from "../../server/sharedTotals.ts";

/** Collects what the servers of a thread count, for the main thread, which has the metrics. */
export interface MetricsForwarder {
  readonly count: (one: RpcCount) => void;
  /** Sends what was collected. */
  flush(): void;
}

/** How long counts wait to be sent. */
const INTERVAL_MS = 100;
/** Number of new counts that are sent without waiting for the end of the interval. */
const MOST_COUNTS = 2000;
/** Counts of all threads that the main thread has not added, beyond which equal ones are sent as one. */
export const COUNTS_WAITING = 100_000;

/**
 * Sends every count by itself, for the sake of quantiles, as long as the main thread keeps up. While it is held up, counts stay
 * here, those of one thing as one with their mean: few, since what is counted has names of ours.
 */
export function createMetricsForwarder(
  post: (counts: readonly RpcCount[]) => void,
  waiting: SharedTotal,
): MetricsForwarder {
  let collected: RpcCount[] = [];
  /** Number of `collected` counts that are merged already. */
  let merged = 0;
  let timer: NodeJS.Timeout | undefined;

  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    const counts = collected;
    collected = [];
    merged = 0;
    if (counts.length > 0) post(counts);
  }

  function sendIfRoom(): void {
    if (addWithin(waiting, collected.length, COUNTS_WAITING)) {
      send();
      return;
    }
    collected = mergedCounts(collected);
    merged = collected.length;
    clearTimeout(timer);
    timer = setTimeout(sendIfRoom, INTERVAL_MS).unref();
  }

  return {
    count(one) {
      collected.push(one);
      if (collected.length - merged >= MOST_COUNTS) sendIfRoom();
      else timer ??= setTimeout(sendIfRoom, INTERVAL_MS).unref();
    },
    flush() {
      if (waiting.all + collected.length > COUNTS_WAITING) collected = mergedCounts(collected);
      waiting.add(collected.length);
      send();
    },
  };
}

/** One count for each thing that was counted. */
function mergedCounts(counts: readonly RpcCount[]): RpcCount[] {
  const byThing = new Map<string, RpcCount>();
  for (const one of counts) {
    const { times = 1, ...thing } = one;
    const key = Object.values({ ...thing, seconds: undefined }).join(" ");
    const before = byThing.get(key);
    byThing.set(key, before === undefined ? { ...one, times } : both(before, one));
  }
  return [...byThing.values()];
}

/** Two counts of one thing as one. */
function both(one: RpcCount, other: RpcCount): RpcCount {
  const { times = 1 } = one;
  const { times: more = 1 } = other;
  const all = times + more;
  if (one.kind !== "answered" || other.kind !== "answered") return { ...one, times: all };
  return { ...one, times: all, seconds: (one.seconds * times + other.seconds * more) / all };
}
