import type { Steps } from "../../primitives/steps.ts";
import { MAX_WAITING_REQUESTS, STEPS_PER_SLICE } from "./limits.ts";

/**
 * Queue of peers' requests: serves some steps of one request per event-loop slice, round robin over peers, within the
 * time that untrusted peers have. So a peer that floods requests, or asks for what takes long, delays itself most.
 */
export interface RequestQueue<Peer> {
  /** False when the peer's queue is full. */
  enqueue(peer: Peer, serve: Steps<void>): boolean;
  forget(peer: Peer): void;
}

/** `inShare` does the work now, or when the peer's time budget allows. */
export function createRequestQueue<Peer>(
  inShare: (peer: Peer, work: () => void) => void,
): RequestQueue<Peer> {
  /** Each has at least one request; the first is in progress. */
  const waiting = new Map<Peer, Steps<void>[]>();
  /** Those whose next slice is due, in round-robin order. */
  const due = new Set<Peer>();
  let isScheduled = false;

  function serveNext(): void {
    isScheduled = false;
    const [peer] = due;
    if (peer === undefined) return;
    due.delete(peer);
    schedule();
    inShare(peer, () => serveSlice(peer));
  }

  function serveSlice(peer: Peer): void {
    const requests = waiting.get(peer);
    const [serve] = requests ?? [];
    // The peer may have left while it waited for its budget.
    if (requests === undefined || serve === undefined) return;
    for (let step = 0; step < STEPS_PER_SLICE; step++) {
      if (serve.next().done !== true) continue;
      requests.shift();
      break;
    }
    // Serving may have disconnected the peer.
    if (waiting.get(peer) !== requests) return;
    if (requests.length === 0) waiting.delete(peer);
    else makeDue(peer);
  }

  function makeDue(peer: Peer): void {
    due.add(peer);
    schedule();
  }

  function schedule(): void {
    if (isScheduled || due.size === 0) return;
    isScheduled = true;
    setImmediate(serveNext);
  }

  return {
    enqueue(peer, serve) {
      const requests = waiting.get(peer);
      if (requests === undefined) {
        waiting.set(peer, [serve]);
        makeDue(peer);
        return true;
      }
      if (requests.length >= MAX_WAITING_REQUESTS) return false;
      requests.push(serve);
      return true;
    },
    forget(peer) {
      waiting.delete(peer);
      due.delete(peer);
    },
  };
}
