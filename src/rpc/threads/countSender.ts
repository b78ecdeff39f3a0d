import type { RpcCount } from "../rpcMetrics.ts";

/** Collects what the servers of a thread count, for the main thread, which has the metrics. */
export interface CountSender {
  readonly count: (one: RpcCount) => void;
  /** Sends what was collected. */
  flush(): void;
}

/** How long counts wait to be sent. */
const INTERVAL_MS = 100;
/** With more, they are sent earlier. */
const MOST_COUNTS = 2000;

export function createCountSender(send: (counts: readonly RpcCount[]) => void): CountSender {
  let collected: RpcCount[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (collected.length === 0) return;
    const counts = collected;
    collected = [];
    send(counts);
  };
  return {
    count(one) {
      collected.push(one);
      if (collected.length >= MOST_COUNTS) flush();
      else timer ??= setTimeout(flush, INTERVAL_MS).unref();
    },
    flush,
  };
}
