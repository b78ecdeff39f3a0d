import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock } from "../primitives/clock.ts";

/** A peer that has refused this node as already connected. */
export interface RefusingPeer {
  readonly nodeId: Uint8Array;
  /** The name of its client, from its Hello; undefined when none came. */
  readonly clientId: string | undefined;
}

/**
 * Decides whether a refusal as "already connected" shows that another node is connected with this node's key, or only that
 * the peer still holds a dead connection, from this node's last run or from before a network cut (p2p.md#connection-policy).
 * A peer that runs this program refuses only once the other end has answered; any other when it has a connection, dead or
 * not.
 */
export class AlreadyConnectedRefusals {
  private readonly ownClientId: string;
  private readonly clock: Pick<Clock, "nowMs">;
  /** When each peer refused this node, first and last. */
  private readonly refusals = new Map<string, { readonly sinceMs: number; readonly lastMs: number }>();
  /** When the connection with a peer ended without a Disconnect from it. */
  private readonly lostMs = new Map<string, number>();

  constructor(ownClientId: string, clock: Pick<Clock, "nowMs">) {
    this.ownClientId = ownClientId;
    this.clock = clock;
  }

  /** Notes that the connection with a peer has ended, which the peer may not know. */
  lost(nodeId: Uint8Array): void {
    const key = toKey(nodeId);
    this.lostMs.delete(key);
    this.lostMs.set(key, this.clock.nowMs());
    dropOldest(this.lostMs, PEERS_REMEMBERED);
  }

  /** Notes a refusal; true when refusals have lasted so long that another node must have the key. */
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
 * Longer than any client holds a dead connection: Besu 24.7.0 sends a Ping after 15 s without input and ends the connection
 * after another 15 s, and so do earlier releases of this program, unless a full buffer makes them wait for 30 s more.
 */
const HELD_MS = 90_000;
/**
 * How long a peer that probes the other end first must refuse this node: a single refusal may come from two crossing
 * connections.
 */
const PROVEN_FOR_MS = 2_000;
/** Time without a refusal after which a new one has another cause: a node is redialed after 30 to 60 s at the latest. */
const PAUSE_MS = 120_000;
