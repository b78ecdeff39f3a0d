import type { Address } from "../primitives/address.ts";
import {
  FIRST_BACK_OFF_MS,
  FIRST_REQUEST_BUDGET_MS,
  LONGEST_BACK_OFF_MS,
  LONGEST_REQUEST_BUDGET_MS,
} from "./limits.ts";
import type { SyncPeer } from "./ports.ts";

interface PeerStanding {
  /** Number of consecutive failures. */
  readonly failures: number;
  readonly untilMs: number;
  /** Time until which the peer counts as lacking the bodies of old blocks. */
  readonly lacksUntilMs: number;
  readonly isProven: boolean;
  readonly hasDelivered: boolean;
  /** Whether the peer has delivered bodies. */
  readonly hasServed: boolean;
}

const NEW: PeerStanding = {
  failures: 0,
  untilMs: 0,
  lacksUntilMs: 0,
  isProven: false,
  hasDelivered: false,
  hasServed: false,
};

/**
 * Chooses the peer to sync from. A claimed height costs nothing, so it decides little: peers named by the operator come
 * first, then validators, then peers that have delivered; any other peer has to prove itself with the next block before
 * more is requested (headProbe.ts). Among equals, fewer failures come first, and only then the greater height. A peer
 * that failed is backed off, longer each time, and has to prove itself again.
 */
export class PeerChoice {
  readonly #nowMs: () => number;
  readonly #isValidator: (address: Address) => boolean;
  readonly #standings = new Map<string, PeerStanding>();

  constructor(nowMs: () => number, isValidator: (address: Address) => boolean) {
    this.#nowMs = nowMs;
    this.#isValidator = isValidator;
  }

  /** Backs a peer off whose download failed: it is not asked for a while. */
  backOff(peer: SyncPeer): void {
    const { failures } = this.#standingOf(peer);
    const untilMs = this.#nowMs() + Math.min(FIRST_BACK_OFF_MS * 2 ** failures, LONGEST_BACK_OFF_MS);
    this.#set(peer, { failures: failures + 1, untilMs, isProven: false, hasServed: false });
  }

  /**
   * Notes that the peer lacks the bodies of old blocks: it is not asked for LONGEST_BACK_OFF_MS, whatever headers it
   * delivers.
   */
  noteLacking(peer: SyncPeer): void {
    this.#set(peer, { lacksUntilMs: this.#nowMs() + LONGEST_BACK_OFF_MS });
  }

  /** Notes that the peer returned the valid block after the local head. */
  noteProven(peer: SyncPeer): void {
    this.#set(peer, { isProven: true });
  }

  /** Notes that the peer delivered a whole range, or everything that it claimed to have. */
  noteDelivered(peer: SyncPeer): void {
    this.#set(peer, { failures: 0, untilMs: 0, hasDelivered: true });
  }

  /** Notes that the peer delivered bodies, which prove nothing about its height. */
  noteServed(peer: SyncPeer): void {
    this.#set(peer, { failures: 0, hasServed: true });
  }

  /** Whether the peer may be relied on for bodies: it is trusted, or has delivered some. */
  isServing(peer: SyncPeer): boolean {
    return this.isTrusted(peer) || this.#standingOf(peer).hasServed;
  }

  /** All peers that may be asked for a block above `number`, the best first. */
  available(peers: readonly SyncPeer[], number: bigint): readonly SyncPeer[] {
    return peers
      .filter((peer) => this.#isAvailable(peer, number))
      .sort((one, other) => Number(this.#isBetter(other, one)) - Number(this.#isBetter(one, other)));
  }

  /** The best peer to ask for a range above `number`. */
  choose(peers: readonly SyncPeer[], number: bigint): SyncPeer | undefined {
    this.#prune(peers);
    let best: SyncPeer | undefined;
    for (const peer of peers) {
      if (!this.#isAvailable(peer, number) || !this.isTrusted(peer)) continue;
      if (best === undefined || this.#isBetter(peer, best)) best = peer;
    }
    return best;
  }

  /** False for a peer whose height is only a claim. */
  isTrusted(peer: SyncPeer): boolean {
    return this.#rankOf(peer) !== UNPROVEN;
  }

  /** Peers that claim to be above `number` without proof. */
  unproven(peers: readonly SyncPeer[], number: bigint): readonly SyncPeer[] {
    return peers.filter((peer) => this.#isAvailable(peer, number) && !this.isTrusted(peer));
  }

  /** Whether another peer could be asked. */
  isReplaceable({ key }: SyncPeer, peers: readonly SyncPeer[], number: bigint): boolean {
    return peers.some((other) => other.key !== key && this.#isAvailable(other, number));
  }

  /** Time that the peer may take while others could be asked. It grows with each failure: the connection may just be slow. */
  requestBudgetMs(peer: SyncPeer): number {
    const { failures } = this.#standingOf(peer);
    return Math.min(FIRST_REQUEST_BUDGET_MS * 2 ** failures, LONGEST_REQUEST_BUDGET_MS);
  }

  /** End of the earliest back-off; undefined when there is none. */
  nextRetryMs(peers: readonly SyncPeer[]): number | undefined {
    let next: number | undefined;
    for (const peer of peers) {
      const standing = this.#standingOf(peer);
      const untilMs = Math.max(standing.untilMs, standing.lacksUntilMs);
      if (untilMs > this.#nowMs() && (next === undefined || untilMs < next)) next = untilMs;
    }
    return next;
  }

  #standingOf({ key }: SyncPeer): PeerStanding {
    return this.#standings.get(key) ?? NEW;
  }

  #set(peer: SyncPeer, change: Partial<PeerStanding>): void {
    this.#standings.set(peer.key, { ...this.#standingOf(peer), ...change });
  }

  #isAvailable(peer: SyncPeer, number: bigint): boolean {
    const { untilMs, lacksUntilMs } = this.#standingOf(peer);
    const isBackedOff = Math.max(untilMs, lacksUntilMs) > this.#nowMs();
    return !isBackedOff && peer.height !== undefined && peer.height > number;
  }

  /** Rank of a peer; lower is better. */
  #rankOf(peer: SyncPeer): number {
    if (peer.isMaintained) return 0;
    if (this.#isValidator(peer.address)) return 1;
    const { hasDelivered, isProven } = this.#standingOf(peer);
    if (hasDelivered) return 2;
    return isProven ? 3 : UNPROVEN;
  }

  #isBetter(one: SyncPeer, other: SyncPeer): boolean {
    const [rank, otherRank] = [this.#rankOf(one), this.#rankOf(other)];
    if (rank !== otherRank) return rank < otherRank;
    const [failures, otherFailures] = [this.#standingOf(one).failures, this.#standingOf(other).failures];
    if (failures !== otherFailures) return failures < otherFailures;
    return (one.height ?? 0n) > (other.height ?? 0n);
  }

  /** Drops the standings of disconnected peers. */
  #prune(peers: readonly SyncPeer[]): void {
    const present = new Set(peers.map(({ key }) => key));
    for (const key of this.#standings.keys()) if (!present.has(key)) this.#standings.delete(key);
  }
}

const UNPROVEN = 4;
