import type { DisconnectReason } from "../../src/network/rlpx/disconnectReason.ts";
import type { Session, SubProtocol } from "../../src/network/subProtocol.ts";
import type { NodeKey } from "../../src/node/keys/nodeKey.ts";
import type { Agenda } from "./agenda.ts";
import { fullMesh, type Mesh } from "./mesh.ts";
import type { Random } from "./random.ts";

/**
 * The network of real nodes, without sockets: connections for their sub-protocols, as over RLPx. Messages
 * arrive in order, once, after a delay; a connection may break and lose messages in transit, or stall for seconds.
 */
export interface Connections {
  /** Opens those that are possible and not open, as dialling nodes do repeatedly. */
  review(): void;
  /** Ends those of a node whose process has ended. */
  drop(node: number): void;
  /** From now on links have no faults. */
  heal(): void;
  readonly figures: { opened: number; messages: number; partitions: number };
}

interface Speaker {
  readonly key: NodeKey;
  /** Undefined while the node is down. */
  readonly protocols: readonly SubProtocol[] | undefined;
}

export interface ConnectionsParts {
  readonly agenda: Agenda;
  readonly random: Random;
  readonly speakers: readonly Speaker[];
  readonly mesh: Mesh;
  readonly conditions: { readonly delayMs: number; readonly partition: number };
  /** A node ended a connection for another reason than the end of the other node. */
  onDisconnect(by: number, other: number, reason: DisconnectReason, detail: string | undefined): void;
}

interface Connection {
  readonly ends: readonly [End, End];
  isOpen: boolean;
}

interface End {
  readonly node: number;
  readonly protocols: readonly SubProtocol[];
  readonly sessions: Session[];
  /** When the last message that it sent arrives. */
  lastArrivalMs: number;
}

const DIAL_EVERY_MS = 1_000;
const PARTITION_MS = 4_000;

export function createConnections(parts: ConnectionsParts): Connections {
  const { agenda, random, speakers, conditions, onDisconnect } = parts;
  const open = new Map<string, Connection>();
  const figures = { opened: 0, messages: 0, partitions: 0 };
  let mesh = parts.mesh;
  let isCalm = false;
  let apart: ReadonlySet<number> = new Set();
  /** Until when messages across the partition are delayed; 0 where connections break instead. */
  let stalledUntilMs = 0;

  const about = (durationMs: number): number => Math.round(durationMs * (0.5 + random.next() / 2));
  const isCut = (a: number, b: number): boolean => apart.has(a) !== apart.has(b);
  const nameOf = (a: number, b: number): string => (a < b ? `${a}-${b}` : `${b}-${a}`);

  function part(): void {
    if (isCalm) return;
    const isParted = random.chance(conditions.partition);
    const doesBreak = random.chance(0.5);
    const durationMs = about(PARTITION_MS);
    apart = new Set(speakers.flatMap((_, node) => (isParted && random.chance(0.4) ? [node] : [])));
    stalledUntilMs = doesBreak ? 0 : agenda.nowMs + durationMs;
    if (apart.size > 0 && apart.size < speakers.length) figures.partitions += 1;
    if (doesBreak)
      for (const { isOpen, ends } of [...open.values()])
        if (isOpen && isCut(ends[0].node, ends[1].node)) breakDown(ends[0].node, ends[1].node);
    agenda.plan(agenda.nowMs + durationMs, part);
  }

  function review(): void {
    for (let a = 0; a < speakers.length; a++)
      for (let b = a + 1; b < speakers.length; b++)
        if (mesh.areLinked(a, b) && !isCut(a, b) && !open.has(nameOf(a, b))) connect(a, b);
  }

  function reviewNowAndThen(): void {
    review();
    agenda.plan(agenda.nowMs + DIAL_EVERY_MS, reviewNowAndThen);
  }

  function connect(a: number, b: number): void {
    const [one, other] = [endOf(a), endOf(b)];
    if (one === undefined || other === undefined) return;
    const connection: Connection = { ends: [one, other], isOpen: true };
    open.set(nameOf(a, b), connection);
    figures.opened += 1;
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const)
      from.protocols.forEach((_, at) => void from.sessions.push(sessionOf(connection, { from, to, at })));
    for (const { protocols, sessions } of connection.ends)
      protocols.forEach((protocol, at) => {
        const session = sessions[at];
        if (session !== undefined) protocol.onOpen(session);
      });
  }

  function endOf(node: number): End | undefined {
    const protocols = speakers[node]?.protocols;
    return protocols && { node, protocols, sessions: [], lastArrivalMs: 0 };
  }

  function sessionOf(
    connection: Connection,
    { from, to, at }: { readonly from: End; readonly to: End; readonly at: number },
  ): Session {
    const nodeId = speakers[to.node]?.key.publicKey ?? new Uint8Array(64);
    const address = speakers[to.node]?.key.address;
    if (address === undefined) throw new Error("the node is down");
    return {
      nodeId,
      address,
      hello: { p2pVersion: 5, clientId: `node ${to.node}`, capabilities: [], listenPort: 0, nodeId },
      version: from.protocols[at]?.version ?? 0,
      isInbound: from.node > to.node,
      remote: { host: "127.0.0.1", port: 30303 + to.node },
      share: { isTrusted: true, take: (work: () => void) => work(), spend: () => undefined },
      isMaintained: false,
      isLasting: true,
      isReady: true,
      receivedBytes: 0,
      send(code, payload) {
        if (!connection.isOpen) return false;
        figures.messages += 1;
        const copy = payload.slice();
        const leavesMs = isCut(from.node, to.node) ? Math.max(agenda.nowMs, stalledUntilMs) : agenda.nowMs;
        from.lastArrivalMs = Math.max(from.lastArrivalMs, leavesMs + about(isCalm ? 20 : conditions.delayMs));
        agenda.plan(from.lastArrivalMs, () => {
          const session = to.sessions[at];
          if (connection.isOpen && session !== undefined) to.protocols[at]?.onMessage(session, code, copy);
        });
        return true;
      },
      disconnect(reason, detail) {
        if (!connection.isOpen) return;
        onDisconnect(from.node, to.node, reason, detail);
        end(connection, reason);
      },
      greeted: () => undefined,
      reward: () => undefined,
      penalise: () => undefined,
    };
  }

  function end(connection: Connection, reason: DisconnectReason): void {
    const [{ node: a }, { node: b }] = connection.ends;
    connection.isOpen = false;
    open.delete(nameOf(a, b));
    for (const { node, protocols, sessions } of connection.ends) {
      // A process that has ended gets no events.
      if (speakers[node]?.protocols !== protocols) continue;
      sessions.forEach((session, at) => void protocols[at]?.onClose(session, reason));
    }
  }

  function breakDown(a: number, b: number): void {
    const connection = open.get(nameOf(a, b));
    if (connection !== undefined) end(connection, "tcpError");
  }

  part();
  agenda.plan(0, reviewNowAndThen);
  return {
    review,
    drop(node) {
      for (let other = 0; other < speakers.length; other++) breakDown(node, other);
    },
    heal() {
      isCalm = true;
      apart = new Set();
      stalledUntilMs = 0;
      mesh = fullMesh(speakers.length);
      review();
    },
    figures,
  };
}
