import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock } from "../primitives/clock.ts";

/** A peer that has refused this node as one that is connected already. */
export interface RefusingPeer {
  readonly nodeId: Uint8Array;
  /** The name of its program, from its Hello; undefined where none came. */
  readonly clientId: string | undefined;
}

/**
 * Tells whether a refusal as "already connected" shows that another node is connected with this node's key, or only that
 * the peer still holds a dead connection, of this node's last run or of before a cut (p2p.md#connection-policy). A peer
 * with this program refuses only once the other end has answered; any other one when it has a connection, dead or not.
 */
export class Refusals {
  private readonly ownClientId: string;
  private readonly clock: Pick<Clock, "nowMs">;
  /** When each peer has refused this node, first and last. */
  private readonly refusals = new Map<string, { readonly sinceMs: number; readonly lastMs: number }>();
  /** When the connection with a peer ended without a word from it. */
  private readonly lostMs = new Map<string, number>();

  constructor(ownClientId: string, clock: Pick<Clock, "nowMs">) {
    this.ownClientId = ownClientId;
    this.clock = clock;
  }

  /** The connection with a peer has ended, and the peer may not know it. */
  lost(nodeId: Uint8Array): void {
    const key = toKey(nodeId);
    this.lostMs.delete(key);
    this.lostMs.set(key, this.clock.nowMs());
    dropOldest(this.lostMs, PEERS_REMEMBERED);
  }

  /** Notes a refusal; whether it lasts for so long that another node must have the key. */
  lasts({ nodeId, clientId }: RefusingPeer): boolean {
    const key = toKey(nodeId);
    const nowMs = this.clock.nowMs();
    const { sinceMs, lastMs } = this.refusals.get(key) ?? { sinceMs: nowMs, lastMs: nowMs };
    const refusal = { sinceMs: nowMs - lastMs > PAUSE_MS ? nowMs : sinceMs, lastMs: nowMs };
    this.refusals.delete(key);
    this.refusals.set(key, refusal);
    dropOldest(this.refusals, PEERS_REMEMBERED);
    const forMs = nowMs - refusal.sinceMs;
    if (forMs >= HELD_MS) return true;
    const isHeldYet = nowMs - (this.lostMs.get(key) ?? Number.NEGATIVE_INFINITY) < HELD_MS;
    return forMs >= PROVEN_FOR_MS && !isHeldYet && this.isOfOwnProgram(clientId);
  }

  private isOfOwnProgram(clientId: string | undefined): boolean {
    return clientId !== undefined && programOf(clientId) === programOf(this.ownClientId);
  }
}

function programOf(clientId: string): string {
  return clientId.split("/", 1)[0] ?? "";
}

const PEERS_REMEMBERED = 256;

/**
 * No client holds a dead connection for so long: Besu 24.7.0 sends a Ping after 15 s without input and ends the connection
 * after another 15 s, and so do earlier releases of this program, unless a full buffer has them wait for 30 s more.
 */
const HELD_MS = 90_000;
/** How long a peer that asks the other end first must refuse this node: a single refusal may be of two calls that have crossed. */
const PROVEN_FOR_MS = 2_000;
/** Time without a refusal after which a new one has another cause: a node is called again after 30 to 60 s at the latest. */
const PAUSE_MS = 120_000;
