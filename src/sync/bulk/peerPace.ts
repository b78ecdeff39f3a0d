import { type BulkLimits, LARGER_REQUEST_MS, SMALLER_REQUEST_MS } from "../limits.ts";
import type { SyncPeer } from "../ports.ts";

/**
 * How much one peer is asked for at once: more while it delivers soon, less when it takes long or gives little. Outlives
 * the downloads.
 */
export interface PeerPaces {
  /** Requests for bodies that the peer has not answered, whether or not their answers are waited for. */
  unanswered(peer: SyncPeer): number;
  /** A request was sent, and is answered when `response` settles. */
  noteRequest(peer: SyncPeer, response: Promise<unknown>): void;
  /** Memory of the bodies of its next request. */
  bytesFor(peer: SyncPeer): number;
  /** A request was answered after `ms`; `isWhole` when no body was missing. */
  noteResponse(peer: SyncPeer, response: { readonly ms: number; readonly isWhole: boolean }): void;
}

interface Pace {
  readonly bytes: number;
  /** The shortest time for a response so far: what lies in the distance, and not in the peer's speed. */
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
