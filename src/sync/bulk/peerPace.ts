import { type BulkLimits, LARGER_REQUEST_MS, SMALLER_REQUEST_MS } from "../limits.ts";
import type { SyncPeer } from "../ports.ts";

interface Pace {
  readonly bytes: number;
  /** The shortest response time so far: it reflects the distance, not the peer's speed. */
  readonly leastMs: number;
}

/**
 * How much one peer is asked for at once: more while it delivers quickly, less when it is slow or delivers little. Outlives
 * the downloads.
 */
export class PeerPaces {
  private readonly limits: BulkLimits;
  private readonly paces = new WeakMap<SyncPeer, Pace>();
  private readonly unknown: Pace;
  private readonly requests = new WeakMap<SyncPeer, number>();

  constructor(limits: BulkLimits) {
    this.limits = limits;
    this.unknown = { bytes: limits.firstBytesOfRequest, leastMs: Number.POSITIVE_INFINITY };
  }

  /** Number of requests for bodies that the peer has not answered, whether or not anyone still waits for them. */
  unanswered(peer: SyncPeer): number {
    return this.requests.get(peer) ?? 0;
  }

  /** Notes that a request was sent, which is answered when `response` settles. */
  noteRequest(peer: SyncPeer, response: Promise<unknown>): void {
    this.change(peer, 1);
    const answered = (): void => this.change(peer, -1);
    response.then(answered, answered);
  }

  /** Memory of bodies that its next request may ask for. */
  bytesFor(peer: SyncPeer): number {
    return (this.paces.get(peer) ?? this.unknown).bytes;
  }

  /** Notes that a request was answered after `ms`; `isWhole` when no body was missing. */
  noteResponse(peer: SyncPeer, { ms, isWhole }: { readonly ms: number; readonly isWhole: boolean }): void {
    const pace = this.paces.get(peer) ?? this.unknown;
    const leastMs = Math.min(pace.leastMs, ms);
    const aloneMs = ms - leastMs;
    let { bytes } = pace;
    if (!isWhole || aloneMs > SMALLER_REQUEST_MS)
      bytes = Math.max(bytes / 2, this.limits.leastBytesOfRequest);
    else if (aloneMs < LARGER_REQUEST_MS) bytes = Math.min(bytes * 2, this.limits.mostBytesOfRequest);
    this.paces.set(peer, { bytes, leastMs });
  }

  private change(peer: SyncPeer, by: number): void {
    this.requests.set(peer, (this.requests.get(peer) ?? 0) + by);
  }
}
