import { dropOldest } from "../../primitives/boundedCache.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import type { Endpoint } from "./endpoint.ts";
import type { NodeRecord } from "./nodeRecord.ts";
import type { NodeContact, Packet, ReceivedPacket } from "./packets.ts";

export type Pong = Extract<Packet, { kind: "pong" }>;

interface DiscoveryRequestParts {
  readonly clock: Clock;
  /** Sends a request and returns its hash. */
  readonly send: (node: NodeContact, request: Request) => Uint8Array;
  /** Called when a node has answered a ping late, from the pinged endpoint, which is proved all the same. */
  readonly onLatePong: (node: NodeContact, pong: Pong) => void;
  /** Called with the number of surplus nodes in a response. */
  readonly onSurplus: (count: number) => void;
}

export type Request =
  | { readonly kind: "ping" }
  | { readonly kind: "findNode"; readonly target: Uint8Array }
  | { readonly kind: "recordRequest" };

/** Longest wait for a response: longer than two trips around the world, and than a busy Besu takes. */
const RESPONSE_MS = 1000;
/** Time for which a late pong still counts, since its sender may be busy: as long as a ping is valid (p2p.md#packets). */
const LATE_PONG_MS = 60_000;
/** Number of unanswered pings remembered; pingLimits.ts bounds how many are pending, and to one address. */
const MAX_UNANSWERED = 4096;
/** Most nodes accepted in a response: go-ethereum splits 16 over two packets. */
const MAX_NODES_TAKEN = 16;
/** Longest time from the first packet of neighbors to the last. */
const MORE_NEIGHBORS_MS = 300;

interface Waiting {
  readonly node: NodeContact;
  readonly hash: Uint8Array;
  /** Receives a packet of the expected kind; true when nothing more is expected. */
  readonly take: (packet: Packet) => boolean;
  readonly end: () => void;
  timer: Timer;
}

interface Unanswered {
  readonly node: NodeContact;
  readonly hash: Uint8Array;
  readonly untilMs: number;
}

/** The kind of response to each kind of request. */
const RESPONSE_OF = { ping: "pong", findNode: "neighbors", recordRequest: "recordResponse" } as const;

/**
 * Requests to other nodes, which wait for their responses: a response must come from the node and the IP address that were
 * asked and, where the protocol provides it, carry the request's hash.
 */
export class DiscoveryRequests {
  private readonly clock: Clock;
  private readonly send: DiscoveryRequestParts["send"];
  private readonly onLatePong: DiscoveryRequestParts["onLatePong"];
  private readonly onSurplus: DiscoveryRequestParts["onSurplus"];
  /** Requests without a response yet, keyed by the kind of the response and the node's id. */
  private readonly waiting = new Map<string, Waiting>();
  private readonly pings = new Map<
    string,
    { readonly node: NodeContact; readonly asked: Promise<Pong | undefined> }
  >();

  /** The last pings that were not answered in time, by the node's id. */
  private readonly unanswered = new Map<string, Unanswered>();

  constructor({ clock, send, onLatePong, onSurplus }: DiscoveryRequestParts) {
    this.clock = clock;
    this.send = send;
    this.onLatePong = onLatePong;
    this.onSurplus = onSurplus;
  }

  /** Requests without a response yet. */
  get pending(): number {
    return this.waiting.size;
  }

  /** Requests to this address without a response yet. */
  pendingAt(ip: string): number {
    let count = 0;
    for (const { node } of this.waiting.values()) if (node.ip === ip) count += 1;
    return count;
  }

  /**
   * Pings a node; undefined when no pong came. A node with a pending ping is not pinged twice, and its answer from one
   * endpoint proves nothing about another.
   */
  ping(node: NodeContact): Promise<Pong | undefined> {
    const id = toHex(node.nodeId);
    const pending = this.pings.get(id);
    if (pending !== undefined) return isAt(pending.node, node) ? pending.asked : Promise.resolve(undefined);
    const asked = this.ask<Pong>(node, { kind: "ping" }, (packet) =>
      packet.kind === "pong" ? packet : undefined,
    );
    this.pings.set(id, { node, asked });
    void asked.then(() => this.pings.delete(id));
    return asked;
  }

  /** Whether the pending ping to this node at this endpoint is answered; undefined when there is none. */
  pendingPing(node: NodeContact): Promise<boolean> | undefined {
    const pending = this.pings.get(toHex(node.nodeId));
    if (pending === undefined || !isAt(pending.node, node)) return undefined;
    return pending.asked.then((pong) => pong !== undefined);
  }

  record(node: NodeContact): Promise<NodeRecord | undefined> {
    return this.ask(node, { kind: "recordRequest" }, (packet) =>
      packet.kind === "recordResponse" && equalBytes(packet.record.nodeId, node.nodeId)
        ? packet.record
        : undefined,
    );
  }

  /** The closest nodes to `target` that `node` knows; undefined when it named none in time. */
  findNode(node: NodeContact, target: Uint8Array): Promise<readonly NodeContact[] | undefined> {
    return new Promise((resolve) => {
      let nodes: NodeContact[] | undefined;
      const waiting = this.wait(
        node,
        { kind: "findNode", target },
        {
          take: (packet) => {
            if (packet.kind !== "neighbors") return false;
            const isFirst = nodes === undefined;
            const named = [...(nodes ?? []), ...packet.nodes];
            if (named.length > MAX_NODES_TAKEN) this.onSurplus(named.length - MAX_NODES_TAKEN);
            nodes = named.slice(0, MAX_NODES_TAKEN);
            if (nodes.length === MAX_NODES_TAKEN) return true;
            if (isFirst && waiting !== undefined) {
              waiting.timer.cancel();
              waiting.timer = this.endAfter(waiting, "neighbors", MORE_NEIGHBORS_MS);
            }
            return false;
          },
          end: () => resolve(nodes),
        },
      );
    });
  }

  /** Receives a response; false when no request waits for it. */
  receive({ packet, nodeId }: ReceivedPacket, fromIp: string): boolean {
    const key = keyOf(packet.kind, nodeId);
    const waiting = this.waiting.get(key);
    if (packet.kind === "pong" && this.takeLate(packet, nodeId, fromIp)) return true;
    if (waiting === undefined || waiting.node.ip !== fromIp) return false;
    const named =
      packet.kind === "pong"
        ? packet.pingHash
        : packet.kind === "recordResponse"
          ? packet.requestHash
          : undefined;
    if (named !== undefined && !equalBytes(named, waiting.hash)) return false;
    if (waiting.take(packet)) this.finish(key, waiting);
    return true;
  }

  /** Whether the pong answers a ping that has timed out. */
  private takeLate(pong: Pong, nodeId: Uint8Array, fromIp: string): boolean {
    const id = toHex(nodeId);
    const ping = this.unanswered.get(id);
    if (ping === undefined || ping.node.ip !== fromIp || !equalBytes(ping.hash, pong.pingHash)) return false;
    this.unanswered.delete(id);
    if (this.clock.nowMs() >= ping.untilMs) return false;
    this.onLatePong(ping.node, pong);
    return true;
  }

  private noteUnanswered({ node, hash }: Waiting): void {
    const id = toHex(node.nodeId);
    this.unanswered.delete(id);
    this.unanswered.set(id, { node, hash, untilMs: this.clock.nowMs() + LATE_PONG_MS });
    dropOldest(this.unanswered, MAX_UNANSWERED);
  }

  close(): void {
    this.unanswered.clear();
    for (const [key, waiting] of [...this.waiting]) this.finish(key, waiting);
  }

  private ask<T>(
    node: NodeContact,
    request: Request,
    read: (packet: Packet) => T | undefined,
  ): Promise<T | undefined> {
    return new Promise((resolve) => {
      let answer: T | undefined;
      this.wait(node, request, {
        take(packet) {
          answer = read(packet);
          return true;
        },
        end: () => resolve(answer),
      });
    });
  }

  /** Sends a request and waits for the response; undefined at once when the same request to the node is pending. */
  private wait(
    node: NodeContact,
    request: Request,
    handlers: Pick<Waiting, "take" | "end">,
  ): Waiting | undefined {
    const response = RESPONSE_OF[request.kind];
    const key = keyOf(response, node.nodeId);
    if (this.waiting.has(key)) {
      handlers.end();
      return undefined;
    }
    const hash = this.send(node, request);
    const waiting: Waiting = { node, hash, ...handlers, timer: NO_TIMER };
    waiting.timer = this.endAfter(waiting, response, RESPONSE_MS);
    this.waiting.set(key, waiting);
    return waiting;
  }

  private endAfter(waiting: Waiting, response: Packet["kind"], waitMs: number): Timer {
    return this.clock.at(this.clock.nowMs() + waitMs, () => {
      if (response === "pong") this.noteUnanswered(waiting);
      this.finish(keyOf(response, waiting.node.nodeId), waiting);
    });
  }

  private finish(key: string, waiting: Waiting): void {
    waiting.timer.cancel();
    this.waiting.delete(key);
    waiting.end();
  }
}

const NO_TIMER: Timer = { cancel: () => undefined };

/** Whether both endpoints have the same address for datagrams. */
export function isAt(a: Endpoint, b: Endpoint): boolean {
  return a.ip === b.ip && a.udpPort === b.udpPort;
}

function keyOf(kind: Packet["kind"], nodeId: Uint8Array): string {
  return `${kind} ${toHex(nodeId)}`;
}
