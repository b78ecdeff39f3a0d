import { toKey } from "../primitives/byteKey.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import type { Link } from "./connectedPeer.ts";
import { OLD_CONNECTION_ANSWER_MS, SETUP_TIMEOUT_MS } from "./limits.ts";
import type { Connection } from "./rlpx/connection.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";
import type { Hello } from "./rlpx/hello.ts";
import type { Traffic } from "./traffic.ts";

/**
 * Connections from peers that are already connected (p2p.md#connection-policy). After a network cut this end still holds the
 * old connection when the peer connects again, so the new one waits, unread, while the old one is sent a Ping:
 *
 *     a Pong                   -> the old end lives: the new connection is refused, and two nodes have one key
 *     none within some seconds -> the old connection is dead, and the new one takes its place
 *
 * Only a Pong is proof, because messages may have been on their way since before the cut: a kernel retransmits them even
 * after the process has given up the connection. At most one connection of a peer waits, and one Ping on the old one.
 */
export class RivalConnections {
  private readonly parts: RivalConnectionsParts;
  /** Contests in progress, keyed by node id. */
  private readonly contests = new Map<string, Contest>();
  /** Young connections that have answered in a contest. */
  private readonly doubted = new WeakSet<Link>();

  constructor(parts: RivalConnectionsParts) {
    this.parts = parts;
  }

  /** Holds a new connection of a peer until it is known whether an old one is alive. */
  add(rival: Rival, links: readonly Link[]): void {
    const { clock } = this.parts;
    const key = toKey(rival.hello.nodeId);
    rival.connection.hold();
    const begun = this.contests.get(key);
    if (begun !== undefined) {
      const { connection } = begun.rival;
      begun.rival = rival;
      connection.disconnect("requested", "a newer connection of the peer waits");
      return;
    }
    const timer = clock.at(clock.nowMs() + OLD_CONNECTION_ANSWER_MS, () => this.replace(key));
    const contest: Contest = { links, timer, rival };
    this.contests.set(key, contest);
    for (const link of links) link.connection.probe(() => this.answered(contest, link));
  }

  /** Must be called when the last other connection of a node has ended: admits the waiting one. */
  freed(nodeId: Uint8Array): void {
    const contest = this.end(toKey(nodeId));
    if (contest !== undefined) this.admit(contest);
  }

  /** Must be called when any connection has ended. */
  ended(connection: Connection): void {
    const { provenId } = connection;
    if (provenId === undefined) return;
    const key = toKey(provenId);
    if (this.contests.get(key)?.rival.connection === connection) this.end(key);
  }

  /** Ends the waiting connection of this node. */
  disconnect(nodeId: Uint8Array, reason: DisconnectReason): void {
    this.end(toKey(nodeId))?.rival.connection.disconnect(reason, "this node ends the connection");
  }

  private answered(contest: Contest, link: Link): void {
    const { rival } = contest;
    const key = toKey(rival.hello.nodeId);
    if (this.contests.get(key) !== contest) return;
    this.end(key);
    this.parts.traffic?.inboundRefused("connected");
    rival.connection.disconnect("alreadyConnected", "its other connection is alive");
    if (this.isProof(link)) this.parts.onBothAlive(link, rival);
  }

  /**
   * Whether an answer proves a second node. A node may have dialed just before its peer's own dial arrived, but does so
   * once.
   */
  private isProof(link: Link): boolean {
    if (this.parts.clock.nowMs() - link.openedMs >= MAY_CROSS_MS || this.doubted.has(link)) return true;
    this.doubted.add(link);
    return false;
  }

  private replace(key: string): void {
    const contest = this.end(key);
    if (contest === undefined) return;
    for (const { connection } of contest.links)
      connection.disconnect("timeout", "it does not answer, and the peer has connected again");
    this.admit(contest);
  }

  private admit({ rival }: Contest): void {
    this.parts.admit(rival);
    const isHeldAgain = this.contests.get(toKey(rival.hello.nodeId))?.rival.connection === rival.connection;
    if (!isHeldAgain) rival.connection.resume();
  }

  private end(key: string): Contest | undefined {
    const contest = this.contests.get(key);
    contest?.timer.cancel();
    this.contests.delete(key);
    return contest;
  }
}

interface RivalConnectionsParts {
  readonly clock: Clock;
  readonly traffic?: Traffic | undefined;
  /** Admits or refuses the connection as if it had just opened. */
  readonly admit: (rival: Rival) => void;
  /** Called when both ends are alive, so that two nodes run with the key of the peer. */
  readonly onBothAlive: (first: Link, second: Rival) => void;
}

/** A connection from a peer that is already connected, and the peer's Hello. */
interface Rival {
  readonly connection: Connection;
  readonly hello: Hello;
}

interface Contest {
  readonly links: readonly Link[];
  readonly timer: Timer;
  /** The newest waiting connection. */
  rival: Rival;
}

/** Longest time between two connections that both ends open at once, when each is slow. */
const MAY_CROSS_MS = 2 * SETUP_TIMEOUT_MS;
