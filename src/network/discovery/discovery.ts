import type { ForkId } from "../../chainspec/forkId.ts";
import type { Logger } from "../../observability/logger.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import type { Clock } from "../../primitives/clock.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { curve } from "../../primitives/secp256k1.ts";
import type { Opener } from "../dialer.ts";
import type { NodeRefusal } from "../traffic.ts";
import { Bonds } from "./bonds.ts";
import { ClockCheck } from "./clockCheck.ts";
import { DatagramLimits } from "./datagramLimits.ts";
import { Delays } from "./delays.ts";
import { DeniedNodes } from "./deniedNodes.ts";
import { type Endpoint, isRelayable, plainIp } from "./endpoint.ts";
import { HeldRequests } from "./heldRequests.ts";
import { lookUp } from "./lookup.ts";
import type { NodeRecord } from "./nodeRecord.ts";
import { BUCKET_SIZE, NodeTable } from "./nodeTable.ts";
import { createOwnRecord } from "./ownRecord.ts";
import {
  decodePacket,
  encodePacket,
  type NodeContact,
  type Packet,
  type PacketKind,
  type ReceivedPacket,
} from "./packets.ts";
import { type NodeSource, PingLimits } from "./pingLimits.ts";
import { DiscoveryRequests, isAt, type Pong, type Request } from "./requests.ts";
import { pinger, type ResponderParts, respond } from "./responder.ts";
import { SEARCH_MS, SearchSchedule } from "./searchSchedule.ts";

export interface DatagramSource {
  readonly address: string;
  readonly port: number;
}

interface DiscoverySettings {
  readonly privateKey: Uint8Array;
  /** Nodes to contact first, and again whenever they are lost: bootnodes, and good nodes of earlier runs. */
  readonly bootnodes: readonly NodeContact[];
}

export interface DiscoveryParts {
  readonly clock: Clock;
  /** Milliseconds since 1970: packets expire by the time of day. */
  readonly epochMs: () => number;
  /** Random number from 0 to 1. */
  readonly chance: () => number;
  readonly send: (bytes: Uint8Array, to: DatagramSource) => void;
  /** The endpoint at which others reach this node. */
  readonly endpoint: () => Endpoint;
  readonly forkId: () => ForkId;
  /** Whether a node with this fork id may be on our chain. */
  readonly isCompatible: (forkId: ForkId) => boolean;
  /** Whether this node may be connected with, by its own or by this node's call. */
  readonly isPermitted: (node: NodeContact, from: Opener) => boolean;
  /** Whether the node needs more connections, so that the search continues. */
  readonly wantsPeers: () => boolean;
  /** Called when a node should be dialed. */
  readonly onNode: (node: NodeContact) => void;
  readonly onPacket?: (direction: "inbound" | "outbound", kind: PacketKind) => void;
  /** Called when a datagram was dropped, with the reason. */
  readonly onDropped?: (reason: string) => void;
  /** Called when nodes were refused, with the reason. */
  readonly onRefused?: (reason: NodeRefusal, count: number) => void;
  readonly logger: Logger;
}

/** How long a packet of ours is valid, as in Besu (p2p.md#packets). */
const EXPIRATION_SECONDS = 60n;
/** Time for a node that has answered our ping to ping us, so that it serves us. */
const THEIR_PING_MS = 500;
/** Most nodes remembered as on another chain, and as having missed pings: more than any table holds. */
const MAX_NOTED = 4096;
/** Consecutive missed pings after which a node of the table is removed. */
const MAX_MISSED_PINGS = 3;
const REVALIDATE_MS = 10_000;
/** Time after the start until bootnodes that did not answer are pinged again; each further wait is twice as long. */
const FIRST_CALL_MS = 1500;

/**
 * Finds other nodes over UDP, and lets them find this one (discovery v4, p2p.md#discovery-v4).
 *
 *     datagrams ── packets.ts ──> requests.ts: responses to our requests
 *                     └────────> here: requests of others, answered to nodes that have proved their endpoint (bonds.ts)
 *     bootnodes, named nodes ── bond: ping, pong, record ──> nodeTable.ts ──> nodes to dial
 *
 * Invariants: an unproven address is sent at most twice the bytes that were sent in its name, and few; a node enters the
 * table, or changes its address there, only after it has answered our ping at that address; each map, each wait, and the
 * work for each datagram, has a bound.
 */
export class Discovery {
  private readonly settings: DiscoverySettings;
  private readonly parts: DiscoveryParts;
  private readonly ownId: Uint8Array;
  private readonly table;
  private readonly bonds;
  private readonly limits;
  private readonly requests;
  private readonly held;
  private readonly pingLimits;
  private readonly clockCheck;
  private readonly ownRecord;
  private readonly delays;
  private readonly schedule;
  private readonly denied = new DeniedNodes();
  private readonly responder: ResponderParts;
  /** Consecutive pings that nodes of the table did not answer, by id. */
  private readonly missed = new Map<string, number>();
  /** Nodes of the table that are on another chain, by id. */
  private readonly incompatible = new Set<string>();
  /** Addresses of the table's nodes and of bootnodes: a flood from others does not block their datagrams. */
  private knownIps: ReadonlySet<string> = new Set();
  private isClosed = false;

  constructor(settings: DiscoverySettings, parts: DiscoveryParts) {
    // Bootnodes' addresses have the form of datagrams' addresses, with which they are compared.
    const bootnodes = settings.bootnodes.map((node) => ({ ...node, ip: plainIp(node.ip) }));
    this.settings = { ...settings, bootnodes };
    this.parts = parts;
    this.ownId = curve.publicKey(settings.privateKey);
    const refuse = (reason: NodeRefusal, count = 1): void => parts.onRefused?.(reason, count);
    this.table = new NodeTable(this.ownId, refuse);
    this.bonds = new Bonds(parts.clock);
    this.limits = new DatagramLimits(parts.clock);
    this.requests = new DiscoveryRequests({
      clock: parts.clock,
      send: (node, request) => this.ask(node, request),
      onLatePong: (node, pong) => this.welcome(node, pong),
      onSurplus: (count) => refuse("surplus", count),
    });
    this.held = new HeldRequests();
    this.pingLimits = new PingLimits(parts.clock, this.requests, () => refuse("crowded"));
    this.clockCheck = new ClockCheck({
      ...parts,
      isTrusted: (nodeId) => this.isBootnode(nodeId),
    });
    this.ownRecord = createOwnRecord({ ...parts, privateKey: settings.privateKey });
    this.delays = new Delays(parts.clock);
    this.schedule = new SearchSchedule({
      clock: parts.clock,
      delays: this.delays,
      wantsPeers: parts.wantsPeers,
      search: () => void this.search(),
    });
    this.responder = {
      bonds: this.bonds,
      table: this.table,
      record: this.ownRecord,
      now: () => this.nowSeconds(),
      expiration: () => this.expiration(),
      send: (reply, to) => void this.send(reply, to),
      onPinged: (node) => this.pingedBy(node),
    };
  }

  /** Nodes that have proved their endpoint, listen for connections and are, as far as they say, on our chain. */
  get nodes(): readonly NodeContact[] {
    return this.table.nodes.filter((node) => this.isDialable(node));
  }

  /** This node's signed record; its sequence grows when the endpoint or the fork id changes. */
  get record(): NodeRecord {
    return this.ownRecord();
  }

  /** Begins to search for nodes. */
  start(): void {
    void this.search();
    void this.callBootnodes(FIRST_CALL_MS);
    this.every(REVALIDATE_MS, () => this.revalidate());
    this.every(SEARCH_MS, () => this.search());
  }

  /** Pings bootnodes that did not answer at the start, since they may be starting, too; at first often. */
  private async callBootnodes(waitMs: number): Promise<void> {
    await this.delays.wait(waitMs);
    await Promise.all(this.settings.bootnodes.map((node) => this.bond(node, "bootnode")));
    if (2 * waitMs < REVALIDATE_MS) await this.callBootnodes(2 * waitMs);
  }

  /** Offers a node that a list names: it enters the table, and is dialed, once it has proved its endpoint. */
  offer(node: NodeContact): void {
    if (this.isUsable(node, node.ip)) void this.tryOffered(node);
  }

  /**
   * Bonds with an offered node. The first node of an empty table is asked for others at once: the search at the start had
   * nobody to ask.
   */
  private async tryOffered(node: NodeContact): Promise<void> {
    const isFirst = this.table.size === 0;
    if (!(await this.bond(this.table.get(node.nodeId) ?? node, "named")) || !isFirst) return;
    this.schedule.searchNow();
  }

  /**
   * Turns to nodes that were denied and are permitted now, and searches again if there are any: what they were not asked, or
   * did not answer, is asked at once. Must be called when the rules of connections may have changed.
   */
  review(): void {
    if (this.isClosed) return;
    const permitted = this.denied.take().filter(({ node, source, request }) => {
      const isPermitted = this.parts.isPermitted(node, request === undefined ? "outbound" : "inbound");
      if (!isPermitted) this.denied.note(node, source, request);
      return isPermitted;
    });
    for (const { node, source, request } of permitted) {
      this.pingLimits.forget(node);
      // A pong counts for as long as the ping is valid, so that it is not too late.
      if (request !== undefined) respond(request.received, request.from, this.responder);
      if (this.isBonded(node)) void this.admit(node, true);
      else void this.bond(node, source);
    }
    if (permitted.length > 0) this.schedule.searchSoon();
  }

  close(): void {
    this.isClosed = true;
    this.delays.close();
    this.requests.close();
  }

  /** Receives a datagram. */
  receive(bytes: Uint8Array, { address, port }: DatagramSource): void {
    if (this.isClosed) return;
    const from = { ip: plainIp(address), udpPort: port, tcpPort: 0 };
    const dropped = this.handleDatagram(bytes, from);
    if (dropped !== undefined) this.parts.onDropped?.(dropped);
  }

  /** Handles a datagram; returns why it was dropped, or undefined. */
  private handleDatagram(bytes: Uint8Array, from: Endpoint): string | undefined {
    if (from.udpPort === 0) return "noPort";
    if (!this.limits.take(from.ip, this.knownIps.has(from.ip))) return "tooMany";
    const received = decodePacket(bytes);
    if (!received.ok) return received.error.code;
    const { packet, nodeId } = received.value;
    if (equalBytes(nodeId, this.ownId)) return "own";
    this.parts.onPacket?.("inbound", packet.kind);
    this.clockCheck.note(received.value);
    if (this.requests.receive(received.value, from.ip)) {
      // The proof counts at once, because the next datagram may build on it.
      if (packet.kind === "pong") this.bonds.noteProof(nodeId, from.ip);
      return undefined;
    }
    // The sender is refused silently, as in Besu: a pong would invite it to stay in touch.
    const sender = this.senderOf(received.value, from);
    if (!this.parts.isPermitted(sender, "inbound")) {
      this.denied.note(sender, "called", { received: received.value, from });
      return "notPermitted";
    }
    const outcome = respond(received.value, from, this.responder);
    if (outcome === "unproven") void this.answerOnceProven(received.value, from);
    return outcome === "answered" ? undefined : outcome;
  }

  private senderOf({ packet, nodeId }: ReceivedPacket, from: Endpoint): NodeContact {
    if (packet.kind === "ping") return pinger(packet, from, nodeId);
    const tcpPort = this.bonds.tcpPortOf(nodeId, from.ip) ?? this.table.get(nodeId)?.tcpPort;
    return { ...from, nodeId, tcpPort: tcpPort ?? from.tcpPort };
  }

  /**
   * Pings a node whose endpoint is not proven, and answers its request when its pong arrives. Such a node has lost our ping,
   * or its pong was lost: it does not ping again while it believes that we know it. A node that has proved another address
   * gets nothing at this one, which may be a victim's (go-ethereum's discovery suite, Amplification/WrongIP); a node that
   * has moved pings on its own.
   */
  private async answerOnceProven(received: ReceivedPacket, from: Endpoint): Promise<void> {
    if (this.bonds.isProvenElsewhere(received.nodeId, from.ip)) return;
    const node = this.senderOf(received, from);
    if (!this.held.take(node)) return;
    const isProven = (await this.requests.pendingPing(node)) ?? (await this.bond(node, "called"));
    this.held.release(node);
    if (isProven && !this.isClosed) respond(received, from, this.responder);
  }

  /** Handles a ping of a node, which serves us from now on. */
  private pingedBy(node: NodeContact): void {
    this.greet(node);
    this.schedule.pingedBy(node.nodeId);
  }

  private isBootnode(nodeId: Uint8Array): boolean {
    return this.settings.bootnodes.some((node) => equalBytes(node.nodeId, nodeId));
  }

  /** Bonds with a node that has pinged us. */
  private greet(node: NodeContact): void {
    const known = this.table.get(node.nodeId);
    const isMoved = known !== undefined && known.tcpPort !== node.tcpPort && isAt(known, node);
    if (isMoved && this.bonds.isProven(node.nodeId, node.ip) && this.table.see(node))
      void this.admit(node, true);
    else void this.bond(node, "called");
  }

  /** Whether the node proves its endpoint now, or has proved it before; it is then in the table, if there is room. */
  private async bond(node: NodeContact, source: NodeSource): Promise<boolean> {
    if (this.isClosed || equalBytes(node.nodeId, this.ownId)) return false;
    if (this.isBonded(node)) return true;
    if (!this.pingLimits.mayPing(node, source)) return false;
    if (!this.parts.isPermitted(node, "outbound")) {
      this.denied.note(node, source);
      return false;
    }
    this.pingLimits.notePing(node);
    const pong = await this.requests.ping(node);
    if (pong === undefined || this.isClosed) return false;
    this.welcome(node, pong);
    return true;
  }

  /** Whether the node is in the table, and has proved its endpoint there. */
  private isBonded(node: NodeContact): boolean {
    const known = this.table.get(node.nodeId);
    return known !== undefined && isAt(known, node) && this.bonds.isProven(node.nodeId, node.ip);
  }

  /** Enters a node that has answered our ping into the table, if there is room. */
  private welcome(node: NodeContact, { recordSequence }: Pong): void {
    this.missed.delete(toHex(node.nodeId));
    // This repeats for a node of the table, because its record may have changed, and because the dialer forgets nodes.
    if (this.table.see(node)) void this.admit(node, recordSequence !== undefined);
  }

  /**
   * Asks a node of the table for its record, and offers it to the dialer unless it is on another chain. Its own record
   * decides its TCP port: nodes that named it may have given another.
   */
  private async admit(named: NodeContact, hasRecord: boolean): Promise<void> {
    await this.untilKnown(named);
    const node = { ...named, tcpPort: this.bonds.tcpPortOf(named.nodeId, named.ip) ?? named.tcpPort };
    if (node.tcpPort !== named.tcpPort) this.table.see(node);
    const record = hasRecord && !this.isClosed ? await this.requests.record(node) : undefined;
    const id = toHex(node.nodeId);
    if (record?.forkId === undefined || this.parts.isCompatible(record.forkId)) this.incompatible.delete(id);
    else this.incompatible.add(id);
    dropOldest(this.incompatible, MAX_NOTED);
    if (this.isClosed || !this.isOnOurChain(node)) return;
    if (this.parts.isPermitted(node, "outbound")) this.parts.onNode(node);
    else this.denied.note(node, "named");
  }

  /** Waits until the node has pinged us, because it does not serve us before; it pings us when our ping was unexpected. */
  private async untilKnown({ nodeId, ip }: NodeContact): Promise<void> {
    if (!this.isClosed && !this.bonds.knowsUs(nodeId, ip)) await this.delays.wait(THEIR_PING_MS);
  }

  private async findNode(node: NodeContact, target: Uint8Array): Promise<readonly NodeContact[] | undefined> {
    if (!(await this.bond(node, "named"))) return undefined;
    await this.untilKnown(node);
    if (this.isClosed) return undefined;
    const named = await this.requests.findNode(node, target);
    // The address of a node that we know is not taken from others.
    const usable = named
      ?.filter((one) => this.isUsable(one, node.ip))
      .map((one) => this.table.get(one.nodeId) ?? one);
    const useless = named?.filter((one) => !isRelayable(one.ip, node.ip)).length ?? 0;
    if (useless > 0) this.parts.onRefused?.("address", useless);
    // Named nodes that are not asked in this search must also prove themselves before they are dialed or named.
    for (const one of usable ?? []) void this.bond(one, "named");
    return usable;
  }

  private isUsable({ nodeId, ip, udpPort }: NodeContact, by: string): boolean {
    return udpPort > 0 && isRelayable(ip, by) && !equalBytes(nodeId, this.ownId);
  }

  /** Finds lost bootnodes again, and searches for new nodes: near this one, and at three random ids. */
  private async search(): Promise<void> {
    const asked = this.schedule.ask();
    await Promise.all(this.settings.bootnodes.map((node) => this.bond(node, "bootnode")));
    if (this.isClosed || !this.schedule.begin(asked)) return;
    const before = this.table.size;
    let answers = 0;
    for (const target of [this.ownId, this.randomId(), this.randomId(), this.randomId()])
      await lookUp(target, this.table.closest(target, BUCKET_SIZE), async (node) => {
        const named = await this.findNode(node, target);
        if (named !== undefined) answers += 1;
        else if (this.isBootnode(node.nodeId)) this.schedule.unanswered(node.nodeId);
        return named;
      });
    const hasChanged = this.table.size !== before || this.table.size === 0;
    this.schedule.end({ isAnswered: answers > 0, hasChanged });
  }

  private async revalidate(): Promise<void> {
    this.knownIps = new Set([...this.settings.bootnodes, ...this.table.nodes].map(({ ip }) => ip));
    const node = this.table.leastRecent(this.parts.chance());
    if (node === undefined) {
      await this.search();
      return;
    }
    const id = toHex(node.nodeId);
    const pong = await this.requests.ping(node);
    if (this.isClosed) return;
    if (pong !== undefined) {
      this.welcome(node, pong);
      return;
    }
    const missed = (this.missed.get(id) ?? 0) + 1;
    this.missed.set(id, missed);
    dropOldest(this.missed, MAX_NOTED);
    if (missed < MAX_MISSED_PINGS) return;
    this.missed.delete(id);
    this.incompatible.delete(id);
    this.bonds.forget(node.nodeId);
    this.table.remove(node.nodeId);
    this.parts.logger.often("debug", "a node no longer answers", () => ({
      node: id.slice(0, 18),
      host: node.ip,
    }));
  }

  private isDialable(node: NodeContact): boolean {
    return this.isOnOurChain(node) && this.parts.isPermitted(node, "outbound");
  }

  /** Whether the node listens for connections and is, as far as it says, on our chain. */
  private isOnOurChain(node: NodeContact): boolean {
    return node.tcpPort > 0 && !this.incompatible.has(toHex(node.nodeId));
  }

  private ask(node: NodeContact, request: Request): Uint8Array {
    const expiration = this.expiration();
    if (request.kind !== "ping") return this.send({ ...request, expiration }, node);
    const { sequence: recordSequence } = this.record;
    return this.send(
      { kind: "ping", from: this.parts.endpoint(), to: node, expiration, recordSequence },
      node,
    );
  }

  /** Sends a packet; returns its hash. */
  private send(packet: Packet, { ip, udpPort }: Endpoint): Uint8Array {
    const { bytes, hash } = encodePacket(packet, this.settings.privateKey);
    this.parts.onPacket?.("outbound", packet.kind);
    this.parts.send(bytes, { address: ip, port: udpPort });
    return hash;
  }

  private expiration(): bigint {
    return this.nowSeconds() + EXPIRATION_SECONDS;
  }

  private nowSeconds(): bigint {
    return BigInt(Math.floor(this.parts.epochMs() / 1000));
  }

  private randomId(): Uint8Array {
    return Uint8Array.from({ length: 64 }, () => Math.min(Math.floor(this.parts.chance() * 256), 255));
  }

  private every(periodMs: number, run: () => Promise<void>): void {
    void this.delays.wait(periodMs).then(() => {
      void run();
      this.every(periodMs, run);
    });
  }
}
