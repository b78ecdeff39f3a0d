import { MAX_WAITING_REQUESTS } from "./limits.ts";

/**
 * Queue of peers' requests: serves one request per event-loop slice, round robin over peers. So a peer that floods
 * requests delays itself most.
 */
export interface RequestQueue<Peer> {
  /** False when the peer's queue is full. */
  enqueue(peer: Peer, serve: () => void): boolean;
  forget(peer: Peer): void;
}

export function createRequestQueue<Peer>(): RequestQueue<Peer> {
  /** In round-robin order. */
  const waiting = new Map<Peer, (() => void)[]>();
  let isScheduled = false;

  function serveOne(): void {
    isScheduled = false;
    for (const [peer, requests] of waiting) {
      const serve = requests.shift();
      waiting.delete(peer);
      if (requests.length > 0) waiting.set(peer, requests);
      schedule();
      serve?.();
      return;
    }
  }

  function schedule(): void {
    if (isScheduled || waiting.size === 0) return;
    isScheduled = true;
    setImmediate(serveOne);
  }

  return {
    enqueue(peer, serve) {
      const requests = waiting.get(peer) ?? [];
      if (requests.length >= MAX_WAITING_REQUESTS) return false;
      requests.push(serve);
      waiting.set(peer, requests);
      schedule();
      return true;
    },
    forget: (peer) => void waiting.delete(peer),
  };
}
