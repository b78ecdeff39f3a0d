import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../../observability/logger.ts";
import { ARRIVAL_TIMES, type ArrivalTimes, IDLE_SPARE_MS } from "./limits.ts";
import { canonicalAddress, remoteHostOf } from "./remoteHost.ts";
import { logTurnedAway, type OpenConnections } from "./server.ts";

export interface ConnectionLimits {
  readonly maxActiveConnections: number;
  /** Of one remote address, or one IPv6 network (machine.ts). */
  readonly maxConnectionsPerAddress: number;
  /** IP addresses, or `localhost`, that many clients may share: no such limit holds for them. */
  readonly proxyAddresses: readonly string[];
  /** For tests; ARRIVAL_TIMES if not given. */
  readonly arrivalTimes?: ArrivalTimes;
}

/**
 * Bounds the connections of a server so that whoever holds them without asking anything keeps nobody out. Where there is no
 * room for a newcomer, the one that has waited longest for its request goes, else one that has long been idle, else the
 * one whose request has been arriving for longest; where all are being answered, or are WebSockets, the newcomer goes.
 * A request that stops arriving is given up.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  /** `option` is what an operator can change. */
  {
    option,
    logger,
    onTurnedAway,
  }: { readonly option: string; readonly logger: Logger; onTurnedAway(): void },
): LimitedConnections {
  const { maxActiveConnections: limit, maxConnectionsPerAddress, arrivalTimes = ARRIVAL_TIMES } = limits;
  const open = new Map<Socket, Held>();
  const isProxy = createProxyRule(limits.proxyAddresses);
  // A few more are let in to find out who goes.
  server.maxConnections = limit + ROOM_TO_CHOOSE;
  const told = logTurnedAway(server, { limit, option }, logger);
  server.on("drop", onTurnedAway);

  function makeRoom(among: readonly Held[]): boolean {
    const nowMs = performance.now();
    const [victim] = among
      .map((held) => ({ held, rank: rankOf(held, nowMs) }))
      .filter(({ rank }) => rank !== undefined)
      .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || a.held.sinceMs - b.held.sinceMs);
    if (victim === undefined) return false;
    open.delete(victim.held.socket);
    turnAway(victim.held.socket);
    return true;
  }

  function turnAway(socket: Socket): void {
    onTurnedAway();
    told(socket.remoteAddress);
    socket.destroy();
  }

  function admits(socket: Socket, remoteHost: string): boolean {
    if (!isProxy(socket.remoteAddress)) {
      const own = [...open.values()].filter((held) => held.remoteHost === remoteHost);
      if (own.length >= maxConnectionsPerAddress && !makeRoom(own)) return false;
    }
    return open.size < limit || makeRoom([...open.values()]);
  }

  server.on("connection", (socket: Socket) => {
    const remoteHost = remoteHostOf(socket.remoteAddress);
    if (!admits(socket, remoteHost)) {
      turnAway(socket);
      return;
    }
    open.set(socket, new Held(socket, remoteHost));
    socket.once("close", () => open.delete(socket));
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) =>
    open.get(request.socket)?.began({ request, response }),
  );
  const check = setInterval(() => {
    for (const held of open.values()) held.endIfStuck(arrivalTimes);
  }, arrivalTimes.checkMs).unref();
  server.on("close", () => clearInterval(check));
  return {
    get count() {
      return open.size;
    },
    keep: (socket) => open.get(socket)?.upgraded(),
    admitsPage(socket) {
      const held = open.get(socket);
      if (held === undefined) return false;
      const others = [...open.values()].filter(
        ({ isPage, remoteHost }) => isPage && remoteHost === held.remoteHost,
      );
      if (others.length >= maxConnectionsPerAddress) {
        onTurnedAway();
        told(socket.remoteAddress);
        return false;
      }
      held.isPage = true;
      return true;
    },
    cutSilent() {
      for (const socket of open.keys()) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

export interface LimitedConnections extends OpenConnections {
  /** The connection has been upgraded: it has its own life from now on, and makes way for nobody. */
  keep(socket: Socket): void;
  /**
   * Whether a web page of a foreign origin may have the connection, which may last. The limit of one address holds for
   * pages wherever they are shown: one in the operator's own browser keeps nobody else out.
   */
  admitsPage(socket: Socket): boolean;
}

/** Connections above the limit that the operating system may hand over at one time. */
const ROOM_TO_CHOOSE = 8;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** An open connection. */
class Held {
  readonly socket: Socket;
  readonly remoteHost: string;
  /** When it was opened, or its last request began. */
  sinceMs = performance.now();
  isUpgraded = false;
  isPage = false;
  /** The last one. */
  exchange: Exchange | undefined;
  private bytesRead = 0;
  private heardAtMs = 0;

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

  /** Ends a connection whose request has begun to arrive, and has not gone on for long. */
  endIfStuck({ bodyPauseMs }: ArrivalTimes): void {
    const { socket, exchange } = this;
    if (this.isUpgraded || exchange === undefined || exchange.request.complete) return;
    if (socket.bytesRead !== this.bytesRead) {
      this.bytesRead = socket.bytesRead;
      this.heardAtMs = performance.now();
    } else if (performance.now() - this.heardAtMs >= bodyPauseMs) {
      endBroken(socket, exchange.response.headersSent ? undefined : "408 Request Timeout");
    }
  }
}

/** In which order they go; undefined for one that stays. */
function rankOf({ exchange, isUpgraded, sinceMs }: Held, nowMs: number): number | undefined {
  if (isUpgraded) return undefined;
  if (exchange === undefined) return 0;
  const { request, response } = exchange;
  if (!request.complete) return 2;
  const isAnswered = response.writableFinished || response.destroyed;
  return isAnswered && nowMs - sinceMs >= IDLE_SPARE_MS ? 1 : undefined;
}

/** Ends a connection from which nothing good will come, with a status where one can still be sent. */
export function endBroken(socket: Socket, status: string | undefined): void {
  if (status !== undefined && socket.writable)
    socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  socket.destroySoon();
}

function createProxyRule(addresses: readonly string[]): (remoteAddress: string | undefined) => boolean {
  const named = new Set(addresses.filter((address) => address !== "localhost").map(canonicalAddress));
  const isLocal = addresses.includes("localhost") ? LOOPBACK : undefined;
  return (remoteAddress = "") =>
    isLocal?.test(remoteAddress) === true || (named.size > 0 && named.has(canonicalAddress(remoteAddress)));
}

const LOOPBACK = /^(::ffff:)?127\.|^::1$/i;
