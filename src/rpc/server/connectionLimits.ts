import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";
import type { Logger } from "../../observability/logger.ts";
import { ARRIVAL_TIMES, type ArrivalTimes, IDLE_SPARE_MS } from "./limits.ts";
import { logRefusal } from "./refusalLog.ts";
import { createProxyRule, remoteHostOf } from "./remoteHost.ts";
import { logRefusedConnections, type OpenConnections } from "./server.ts";
import type { SharedHosts } from "./sharedHosts.ts";
import { HANDSHAKES } from "./tls/handshakeLimits.ts";

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** Limit for one remote address, or one IPv6 network (remoteHost.ts). */
  readonly maxConnectionsPerAddress: number;
  /** TLS handshakes under way, given where open files are short; HANDSHAKES otherwise. */
  readonly maxHandshakes?: number | undefined;
  /** IP addresses, or `localhost`, that many clients may share; exempt from the limit per address. */
  readonly proxyAddresses: readonly string[];
}

/** What other threads that serve the port have. */
export interface SharedConnections {
  readonly shared?: SharedHosts | undefined;
  /** Connections of foreign pages, which `shared` counts as well. */
  readonly sharedPages?: SharedHosts | undefined;
}

interface LimitingParts extends SharedConnections {
  /** The command-line option that sets the limit; undefined where none does. */
  readonly option: string | undefined;
  readonly logger: Logger;
  /** Called for each connection that is refused or replaced. */
  readonly onRefused: () => void;
  /** Whether connections count from the end of a TLS handshake on; unfinished handshakes have limits of their own. */
  readonly isTls: boolean;
  /** For tests; ARRIVAL_TIMES if not given. */
  readonly arrivalTimes?: ArrivalTimes | undefined;
}

/**
 * Bounds the connections of a server so that clients which send no requests cannot keep others out. At the limit, a new
 * connection replaces the one that has been open longest without a request, else one that has been idle for long, else
 * the one whose request has been arriving for longest. When all are being answered, or are WebSockets, the new one is
 * refused. A connection whose request stops arriving is ended.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  parts: LimitingParts,
): LimitedConnections {
  const { maxHandshakes = HANDSHAKES } = limits;
  const { arrivalTimes = ARRIVAL_TIMES } = parts;
  const connections = new LimitedConnections(server, limits, parts);
  // A few more are accepted so that one of the open connections can be replaced.
  server.maxConnections = limits.maxConnections + ROOM_TO_CHOOSE + (parts.isTls ? maxHandshakes : 0);
  server.on("drop", (connection) => {
    parts.onRefused();
    logRefusal(parts.logger, "too many connections", connection?.remoteAddress);
  });
  server.on(parts.isTls ? "secureConnection" : "connection", (socket: Socket) => connections.add(socket));
  server.on("request", (request: IncomingMessage, response: ServerResponse) =>
    connections.began({ request, response }),
  );
  const check = setInterval(() => connections.endStalled(arrivalTimes), arrivalTimes.checkMs).unref();
  server.on("close", () => clearInterval(check));
  return connections;
}

/** The open connections of a server, and which of them a new one may replace. */
export class LimitedConnections implements OpenConnections {
  private readonly limits: ConnectionLimits;
  private readonly sharing: SharedConnections;
  private readonly logger: Logger;
  private readonly onRefused: () => void;
  private readonly logRefused: (remoteAddress: string | undefined) => void;
  private readonly isProxy: (remoteAddress: string | undefined) => boolean;
  private readonly open = new Map<Socket, OpenConnection>();

  constructor(server: Server, limits: ConnectionLimits, parts: LimitingParts) {
    const { option, logger, onRefused } = parts;
    this.limits = limits;
    this.sharing = parts;
    this.logger = logger;
    this.onRefused = onRefused;
    this.logRefused = logRefusedConnections(server, { limit: limits.maxConnections, option }, logger);
    this.isProxy = createProxyRule(limits.proxyAddresses);
  }

  get count(): number {
    return this.open.size;
  }

  add(socket: Socket): void {
    const { shared, sharedPages } = this.sharing;
    const remoteHost = remoteHostOf(socket.remoteAddress);
    // Counted first: two threads that accept at one time may both refuse, but never both take the last place.
    shared?.add(remoteHost, 1);
    if (!this.admits(socket, remoteHost)) {
      shared?.add(remoteHost, -1);
      this.refuse(socket);
      return;
    }
    const connection = new OpenConnection(socket, remoteHost);
    this.open.set(socket, connection);
    this.logger.often("trace", "connection opened", () => ({ client: remoteHost }));
    socket.once("close", () => {
      this.open.delete(socket);
      shared?.add(remoteHost, -1);
      if (connection.isPage) sharedPages?.add(remoteHost, -1);
      this.logger.often("trace", "connection closed", () => ({
        client: remoteHost,
        bytes: socket.bytesRead,
      }));
    });
  }

  began(exchange: Exchange): void {
    this.open.get(exchange.request.socket)?.began(exchange);
  }

  endStalled(arrivalTimes: ArrivalTimes): void {
    for (const connection of this.open.values()) connection.endIfStalled(arrivalTimes);
  }

  /** Marks the connection as upgraded to a WebSocket; from then on it is never replaced by a new one. */
  keep(socket: Socket): void {
    this.open.get(socket)?.upgraded();
  }

  /**
   * Whether a web page of a foreign origin may have the connection, which may be long-lived. The limit per address applies
   * to pages even when the address is a proxy, so that a page in the operator's own browser cannot keep others out.
   */
  admitsPage(socket: Socket): boolean {
    const connection = this.open.get(socket);
    if (connection === undefined) return false;
    const { remoteHost } = connection;
    const { maxConnectionsPerAddress } = this.limits;
    const { sharedPages } = this.sharing;
    sharedPages?.add(remoteHost, 1);
    const own = [...this.open.values()].filter((other) => other.isPage && other.remoteHost === remoteHost);
    if (own.length + (sharedPages?.othersOf(remoteHost) ?? 0) >= maxConnectionsPerAddress) {
      sharedPages?.add(remoteHost, -1);
      this.noteRefused(socket.remoteAddress, "too many connections of foreign pages");
      return false;
    }
    connection.isPage = true;
    return true;
  }

  cutSilent(): void {
    for (const socket of this.open.keys()) if (socket.bytesRead === 0) socket.destroy();
  }

  private admits(socket: Socket, remoteHost: string): boolean {
    const { maxConnections, maxConnectionsPerAddress } = this.limits;
    const { shared } = this.sharing;
    if (!this.isProxy(socket.remoteAddress)) {
      const own = [...this.open.values()].filter((connection) => connection.remoteHost === remoteHost);
      const others = shared?.othersOf(remoteHost) ?? 0;
      if (own.length + others >= maxConnectionsPerAddress && !this.makeRoom(own)) return false;
    }
    const others = shared?.others ?? 0;
    return this.open.size + others < maxConnections || this.makeRoom([...this.open.values()]);
  }

  private makeRoom(among: readonly OpenConnection[]): boolean {
    const nowMs = performance.now();
    const [evicted] = among
      .map((connection) => ({ connection, rank: rankOf(connection, nowMs) }))
      .filter(({ rank }) => rank !== undefined)
      .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || a.connection.sinceMs - b.connection.sinceMs);
    if (evicted === undefined) return false;
    this.open.delete(evicted.connection.socket);
    this.refuse(evicted.connection.socket);
    return true;
  }

  private refuse(socket: Socket): void {
    this.noteRefused(socket.remoteAddress, "too many connections");
    socket.destroy();
  }

  private noteRefused(remoteAddress: string | undefined, reason: string): void {
    this.onRefused();
    this.logRefused(remoteAddress);
    logRefusal(this.logger, reason, remoteAddress);
  }
}

/** Connections above the limit that the server accepts, to choose which one to end. */
const ROOM_TO_CHOOSE = 8;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

class OpenConnection {
  readonly socket: Socket;
  readonly remoteHost: string;
  /** When it was opened, or when its last request began. */
  sinceMs = performance.now();
  isUpgraded = false;
  isPage = false;
  /** The last request and its response. */
  exchange: Exchange | undefined;
  private bytesRead = 0;
  /** Checks since the last byte came. Those that a busy thread leaves out do not count: it has not read what has come meanwhile. */
  private idleChecks = 0;

  constructor(socket: Socket, remoteHost: string) {
    this.socket = socket;
    this.remoteHost = remoteHost;
  }

  began(exchange: Exchange): void {
    this.exchange = exchange;
    this.sinceMs = performance.now();
  }

  upgraded(): void {
    this.isUpgraded = true;
  }

  /** Ends the connection when its request has begun to arrive and nothing more of it came for `bodyPauseMs`. */
  endIfStalled({ bodyPauseMs, checkMs }: ArrivalTimes): void {
    const { socket, exchange } = this;
    if (this.isUpgraded || exchange === undefined || exchange.request.complete) return;
    if (socket.bytesRead !== this.bytesRead) {
      this.bytesRead = socket.bytesRead;
      this.idleChecks = 0;
    } else if (++this.idleChecks * checkMs >= bodyPauseMs) {
      endConnection(socket, exchange.response.headersSent ? undefined : "408 Request Timeout");
    }
  }
}

/** The lowest rank is ended first; undefined for a connection that must stay. */
function rankOf({ exchange, isUpgraded, sinceMs }: OpenConnection, nowMs: number): number | undefined {
  if (isUpgraded) return undefined;
  if (exchange === undefined) return 0;
  const { request, response } = exchange;
  if (!request.complete) return 2;
  const isAnswered = response.writableFinished || response.destroyed;
  return isAnswered && nowMs - sinceMs >= IDLE_SPARE_MS ? 1 : undefined;
}

/** Ends a connection, with a status where one can still be sent. */
export function endConnection(socket: Socket, status: string | undefined): void {
  if (status !== undefined && socket.writable)
    socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  socket.destroySoon();
}
