import type { Address } from "../primitives/address.ts";
import {
  FIRST_BACK_OFF_MS,
  FIRST_REQUEST_BUDGET_MS,
  LONGEST_BACK_OFF_MS,
  LONGEST_REQUEST_BUDGET_MS,
} from "./limits.ts";
import type { SyncPeer } from "./ports.ts";

/**
 * Whom to catch up from. A claim costs nothing to make, so it decides little: whom the operator named comes first, then
 * validators, then those who have delivered; any other peer has to show the next block before it is asked for more (see
 * trials.ts). Among equals whoever failed least comes first, and only then the highest. Who was no help rests, longer
 * each time, and has to show itself again.
 */
export interface PeerChoice {
  /** No help: not to be asked, for the first or another time. */
  backOff(peer: SyncPeer): void;
  /** It gave the block after our head, and that was sound. */
  noteProven(peer: SyncPeer): void;
  /** It gave a whole range, or all that it claimed to have. */
  noteDelivered(peer: SyncPeer): void;
  /** The best to be asked for a range above `number`. */
  choose(peers: readonly SyncPeer[], number: bigint): SyncPeer | undefined;
  /** Not one that just claims to be higher. */
  isTrusted(peer: SyncPeer): boolean;
  /** Those who claim to be above `number`, and have yet to show it. */
  unproven(peers: readonly SyncPeer[], number: bigint): readonly SyncPeer[];
  /** Whether somebody else could be asked. */
  isReplaceable(peer: SyncPeer, peers: readonly SyncPeer[], number: bigint): boolean;
  /** How long it may keep us waiting while others could be asked. Longer after each time: its line may just be slow. */
  requestBudgetMs(peer: SyncPeer): number;
  /** When the first of these is to be asked again; undefined when none rests. */
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

  /** The lower the better. */
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

  /** Those who left are forgotten. */
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
