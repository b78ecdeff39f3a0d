import type { RpcCount } from "../../rpcMetrics.ts";
import type { ThreadChannel } from "../messages.ts";

/** How long counts wait to be sent. */
const INTERVAL_MS = 100;
/** Number of new counts that are sent without waiting for the end of the interval. */
const MOST_COUNTS = 2000;

/**
 * Collects what the servers of this thread count, for the main thread, which has the metrics. Every count is sent by itself, for the
 * sake of quantiles, as long as the main thread keeps up. While it is held up, counts stay here, those of one thing as one with their
 * mean: few, since what is counted has names of ours.
 */
export class MetricsForwarder {
  private readonly channel: Pick<ThreadChannel, "offer" | "send">;
  private collected: RpcCount[] = [];
  /** Number of `collected` counts that are merged already. */
  private merged = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(channel: Pick<ThreadChannel, "offer" | "send">) {
    this.channel = channel;
  }

  count(one: RpcCount): void {
    this.collected.push(one);
    if (this.collected.length - this.merged >= MOST_COUNTS) this.sendIfRoom();
    else this.timer ??= setTimeout(() => this.sendIfRoom(), INTERVAL_MS).unref();
  }

  /** Sends what was collected, however much the main thread has before it. */
  flush(): void {
    if (this.hasSent()) return;
    const counts = mergedCounts(this.takeCollected());
    this.channel.send("counts", counts, counts.length);
  }

  private sendIfRoom(): void {
    if (this.hasSent()) return;
    this.collected = mergedCounts(this.collected);
    this.merged = this.collected.length;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.sendIfRoom(), INTERVAL_MS).unref();
  }

  private hasSent(): boolean {
    const { collected } = this;
    if (collected.length > 0 && !this.channel.offer("counts", collected, collected.length)) return false;
    this.takeCollected();
    return true;
  }

  private takeCollected(): readonly RpcCount[] {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { collected } = this;
    this.collected = [];
    this.merged = 0;
    return collected;
  }
}

/** Merges the counts of each thing into one. */
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

/** Merges two counts of one thing. */
function both(one: RpcCount, other: RpcCount): RpcCount {
  const { times = 1 } = one;
  const { times: more = 1 } = other;
  const all = times + more;
  if (one.kind !== "answered" || other.kind !== "answered") return { ...one, times: all };
  return { ...one, times: all, seconds: (one.seconds * times + other.seconds * more) / all };
}
