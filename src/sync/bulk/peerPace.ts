import { type BulkLimits, LARGER_REQUEST_MS, SMALLER_REQUEST_MS } from "../limits.ts";
import type { SyncPeer } from "../ports.ts";

/**
 * How much one peer is asked for at once: more while it delivers quickly, less when it is slow or delivers little. Outlives
 * the downloads.
 */
export interface PeerPaces {
  /** Number of requests for bodies that the peer has not answered, whether or not anyone still waits for them. */
  unanswered(peer: SyncPeer): number;
  /** Notes that a request was sent, which is answered when `response` settles. */
  noteRequest(peer: SyncPeer, response: Promise<unknown>): void;
  /** Memory of bodies that its next request may ask for. */
  bytesFor(peer: SyncPeer): number;
  /** Notes that a request was answered after `ms`; `isWhole` when no body was missing. */
  noteResponse(peer: SyncPeer, response: { readonly ms: number; readonly isWhole: boolean }): void;
}

interface Pace {
  readonly bytes: number;
  /** The shortest response time so far: it reflects the distance, not the peer's speed. */
  readonly leastMs: number;
}

export function createPeerPaces(limits: BulkLimits): PeerPaces {
  const { firstBytesOfRequest, leastBytesOfRequest, mostBytesOfRequest } = limits;
  const paces = new WeakMap<SyncPeer, Pace>();
  const unknown: Pace = { bytes: firstBytesOfRequest, leastMs: Number.POSITIVE_INFINITY };
  const unanswered = new WeakMap<SyncPeer, number>();
  const change = (peer: SyncPeer, by: number): void =>
    void unanswered.set(peer, (unanswered.get(peer) ?? 0) + by);
  return {
    unanswered: (peer) => unanswered.get(peer) ?? 0,
    noteRequest(peer, response) {
      change(peer, 1);
      const answered = (): void => change(peer, -1);
      response.then(answered, answered);
    },
    bytesFor: (peer) => (paces.get(peer) ?? unknown).bytes,
    noteResponse(peer, { ms, isWhole }) {
      const pace = paces.get(peer) ?? unknown;
      const leastMs = Math.min(pace.leastMs, ms);
      const aloneMs = ms - leastMs;
      let { bytes } = pace;
      if (!isWhole || aloneMs > SMALLER_REQUEST_MS) bytes = Math.max(bytes / 2, leastBytesOfRequest);
      else if (aloneMs < LARGER_REQUEST_MS) bytes = Math.min(bytes * 2, mostBytesOfRequest);
      paces.set(peer, { bytes, leastMs });
    },
  };
}
