import { FIRST_REST_MS, LONGEST_REST_MS } from "./limits.ts";
import type { SyncPeer } from "./ports.ts";

/** Peers that were no help lately, and are left alone for a while: longer each time, until they help again. */
export interface RestingPeers {
  /** Not to be asked, for the first or another time. */
  rest(peer: SyncPeer): void;
  helped(peer: SyncPeer): void;
  /** The highest peer above `number` that is not resting, among those that the operator named if there is one. */
  choose(peers: readonly SyncPeer[], number: bigint): SyncPeer | undefined;
  /** When the first of these is to be asked again; undefined when none rests. */
  nextMs(peers: readonly SyncPeer[]): number | undefined;
}

export function createRestingPeers(nowMs: () => number): RestingPeers {
  const resting = new Map<string, { readonly untilMs: number; readonly restMs: number }>();
  const isResting = ({ key }: SyncPeer): boolean => (resting.get(key)?.untilMs ?? 0) > nowMs();

  /** Those who left are forgotten. */
  function prune(peers: readonly SyncPeer[]): void {
    const present = new Set(peers.map(({ key }) => key));
    for (const key of resting.keys()) if (!present.has(key)) resting.delete(key);
  }

  return {
    rest({ key }) {
      const restMs = Math.min((resting.get(key)?.restMs ?? FIRST_REST_MS / 2) * 2, LONGEST_REST_MS);
      resting.set(key, { untilMs: nowMs() + restMs, restMs });
    },
    helped: ({ key }) => void resting.delete(key),
    choose(peers, number) {
      prune(peers);
      let best: SyncPeer | undefined;
      for (const peer of peers) {
        if (isResting(peer) || peer.height === undefined || peer.height <= number) continue;
        if (best === undefined || isBetter(peer, best)) best = peer;
      }
      return best;
    },
    nextMs(peers) {
      let next: number | undefined;
      for (const peer of peers) {
        const untilMs = resting.get(peer.key)?.untilMs;
        if (untilMs !== undefined && untilMs > nowMs() && (next === undefined || untilMs < next))
          next = untilMs;
      }
      return next;
    },
  };
}

function isBetter(one: SyncPeer, other: SyncPeer): boolean {
  if (one.isMaintained !== other.isMaintained) return one.isMaintained;
  return (one.height ?? 0n) > (other.height ?? 0n);
}
