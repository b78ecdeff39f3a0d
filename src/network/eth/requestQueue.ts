import { MAX_WAITING_REQUESTS } from "./limits.ts";

/**
 * Questions wait here for their turn: one question at a time, each peer in turn, with room for others on the thread in
 * between. So a peer that asks without end delays itself most.
 */
export interface RequestQueue<Peer> {
  /** False when so many questions of this peer wait already. */
  enqueue(peer: Peer, serve: () => void): boolean;
  forget(peer: Peer): void;
}

export function createRequestQueue<Peer>(
  defer: (action: () => void) => void = setImmediate,
): RequestQueue<Peer> {
  /** In the order of their turns. */
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
    defer(serveOne);
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
