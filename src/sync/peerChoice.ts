import type { Address } from "../primitives/address.ts";
import {
  FIRST_BACK_OFF_MS,
  FIRST_REQUEST_BUDGET_MS,
  LONGEST_BACK_OFF_MS,
  LONGEST_REQUEST_BUDGET_MS,
} from "./limits.ts";
import type { SyncPeer } from "./ports.ts";

/**
 * Chooses the peer to sync from. A claimed height costs nothing, so it decides little: peers named by the operator come
 * first, then validators, then peers that have delivered; any other peer has to prove itself with the next block before
 * more is requested (headProbe.ts). Among equals, fewer failures come first, and only then the greater height. A peer
 * that failed is backed off, longer each time, and has to prove itself again.
 */
export interface PeerChoice {
  /** A download failed: the peer is not asked for a while. */
  backOff(peer: SyncPeer): void;
  /** The peer returned the valid block after the local head. */
  noteProven(peer: SyncPeer): void;
  /** The peer delivered a whole range, or all that it claimed to have. */
  noteDelivered(peer: SyncPeer): void;
  /** The best peer to ask for a range above `number`. */
  choose(peers: readonly SyncPeer[], number: bigint): SyncPeer | undefined;
  /** False for a peer whose height is only a claim. */
  isTrusted(peer: SyncPeer): boolean;
  /** Peers that claim to be above `number` without proof. */
  unproven(peers: readonly SyncPeer[], number: bigint): readonly SyncPeer[];
  /** Whether another peer could be asked. */
  isReplaceable(peer: SyncPeer, peers: readonly SyncPeer[], number: bigint): boolean;
  /**
   * Time that the peer may take while others could be asked. Grows with each failure: its connection may just be slow.
   */
  requestBudgetMs(peer: SyncPeer): number;
  /** End of the earliest back-off; undefined when there is none. */
  nextRetryMs(peers: readonly SyncPeer[]): number | undefined;
}

interface PeerStanding {
  /** In a row. */
  readonly failures: number;
  readonly untilMs: number;
  readonly isProven: boolean;
  readonly hasDelivered: boolean;
}

const NEW: PeerStanding = { failures: 0, untilMs: 0, isProven: false, hasDelivered: false };

export function createPeerChoice(
  nowMs: () => number,
  isValidator: (address: Address) => boolean,
): PeerChoice {
  const standings = new Map<string, PeerStanding>();
  const standingOf = ({ key }: SyncPeer): PeerStanding => standings.get(key) ?? NEW;
  const set = (peer: SyncPeer, change: Partial<PeerStanding>): void =>
    void standings.set(peer.key, { ...standingOf(peer), ...change });

  const isAvailable = (peer: SyncPeer, number: bigint): boolean =>
    standingOf(peer).untilMs <= nowMs() && peer.height !== undefined && peer.height > number;

  /** Lower is better. */
  function rankOf(peer: SyncPeer): number {
    if (peer.isMaintained) return 0;
    if (isValidator(peer.address)) return 1;
    if (standingOf(peer).hasDelivered) return 2;
    return standingOf(peer).isProven ? 3 : UNPROVEN;
  }

  function isBetter(one: SyncPeer, other: SyncPeer): boolean {
    const [rank, otherRank] = [rankOf(one), rankOf(other)];
    if (rank !== otherRank) return rank < otherRank;
    const [failures, otherFailures] = [standingOf(one).failures, standingOf(other).failures];
    if (failures !== otherFailures) return failures < otherFailures;
    return (one.height ?? 0n) > (other.height ?? 0n);
  }

  /** Drops the standings of disconnected peers. */
  function prune(peers: readonly SyncPeer[]): void {
    const present = new Set(peers.map(({ key }) => key));
    for (const key of standings.keys()) if (!present.has(key)) standings.delete(key);
  }

  return {
    backOff(peer) {
      const { failures } = standingOf(peer);
      const untilMs = nowMs() + Math.min(FIRST_BACK_OFF_MS * 2 ** failures, LONGEST_BACK_OFF_MS);
      set(peer, { failures: failures + 1, untilMs, isProven: false });
    },
    noteProven: (peer) => set(peer, { isProven: true }),
    noteDelivered: (peer) => set(peer, { failures: 0, untilMs: 0, hasDelivered: true }),
    choose(peers, number) {
      prune(peers);
      let best: SyncPeer | undefined;
      for (const peer of peers) {
        if (!isAvailable(peer, number) || rankOf(peer) === UNPROVEN) continue;
        if (best === undefined || isBetter(peer, best)) best = peer;
      }
      return best;
    },
    isTrusted: (peer) => rankOf(peer) !== UNPROVEN,
    unproven: (peers, number) =>
      peers.filter((peer) => isAvailable(peer, number) && rankOf(peer) === UNPROVEN),
    isReplaceable: ({ key }, peers, number) =>
      peers.some((other) => other.key !== key && isAvailable(other, number)),
    requestBudgetMs: (peer) =>
      Math.min(FIRST_REQUEST_BUDGET_MS * 2 ** standingOf(peer).failures, LONGEST_REQUEST_BUDGET_MS),
    nextRetryMs(peers) {
      let next: number | undefined;
      for (const peer of peers) {
        const { untilMs } = standingOf(peer);
        if (untilMs > nowMs() && (next === undefined || untilMs < next)) next = untilMs;
      }
      return next;
    },
  };
}

const UNPROVEN = 4;
