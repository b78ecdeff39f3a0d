import type { Steps } from "../../primitives/steps.ts";
import { MAX_WAITING_REQUESTS, STEPS_PER_SLICE } from "./limits.ts";

/**
 * Queue of peers' requests: serves some steps of one request per event-loop slice, round robin over peers, within the time
 * share of untrusted peers. So a peer that floods requests, or asks for slow ones, delays mostly itself.
 */
export class RequestQueue<Peer> {
  private readonly inShare: (peer: Peer, work: () => void) => void;
  /** Requests by peer; each peer has at least one, and the first is in progress. */
  private readonly waiting = new Map<Peer, Steps<void>[]>();
  /** Peers whose next slice is due, in round-robin order. */
  private readonly due = new Set<Peer>();
  private isScheduled = false;

  /** `inShare` does the work now, or when the peer's time budget permits. */
  constructor(inShare: (peer: Peer, work: () => void) => void) {
    this.inShare = inShare;
  }

  /** Queues a request; false when the peer's queue is full. */
  enqueue(peer: Peer, serve: Steps<void>): boolean {
    const requests = this.waiting.get(peer);
    if (requests === undefined) {
      this.waiting.set(peer, [serve]);
      this.makeDue(peer);
      return true;
    }
    if (requests.length >= MAX_WAITING_REQUESTS) return false;
    requests.push(serve);
    return true;
  }

  forget(peer: Peer): void {
    this.waiting.delete(peer);
    this.due.delete(peer);
  }

  private serveNext(): void {
    this.isScheduled = false;
    const [peer] = this.due;
    if (peer === undefined) return;
    this.due.delete(peer);
    this.schedule();
    this.inShare(peer, () => this.serveSlice(peer));
  }

  private serveSlice(peer: Peer): void {
    const requests = this.waiting.get(peer);
    const [serve] = requests ?? [];
    // The peer may have left while it waited for its budget.
    if (requests === undefined || serve === undefined) return;
    for (let step = 0; step < STEPS_PER_SLICE; step++) {
      if (serve.next().done !== true) continue;
      requests.shift();
      break;
    }
    // Serving may have disconnected the peer.
    if (this.waiting.get(peer) !== requests) return;
    if (requests.length === 0) this.waiting.delete(peer);
    else this.makeDue(peer);
  }

  private makeDue(peer: Peer): void {
    this.due.add(peer);
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled || this.due.size === 0) return;
    this.isScheduled = true;
    setImmediate(() => this.serveNext());
  }
}
