import type { Server } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Logger } from "../../../observability/logger.ts";
import { messageOf } from "../../../primitives/errorMessage.ts";
import type { RpcMetrics } from "../../rpcMetrics.ts";
import { logRefusal } from "../refusalLog.ts";
import { remoteHostOf } from "../remoteHost.ts";
import { isAccepted } from "./clientCertificates.ts";
import {
  HANDSHAKE_MS,
  HANDSHAKES,
  HANDSHAKES_AT_ONCE,
  HANDSHAKES_PER_HOST,
  HANDSHAKES_PER_SECOND,
} from "./handshakeLimits.ts";
import { secureContextOptions, type TlsRules } from "./tlsRules.ts";

export interface HandshakeParts {
  readonly logger: Logger;
  readonly metrics?: RpcMetrics | undefined;
}

/**
 * Bounds what clients can do before their connection is secure:
 *
 *   connection ─ first byte ┬ of no handshake ─> a text that says so
 *                           └ turn ─> handshake ─> certificate of the client ─> the server
 *                └── HANDSHAKE_MS in all; HANDSHAKES of them, the oldest makes room ──┘
 *
 * Nobody can renegotiate. `rules` is asked for each connection, so that keys can be replaced while the server runs.
 */
export function guardHandshakes(server: Server, rules: () => TlsRules, parts: HandshakeParts): Handshakes {
  const guard = new HandshakeGuard(server, rules, parts);
  server.on("connection", (socket: Socket) => guard.begin(socket));
  return guard;
}

export interface Handshakes {
  /** Ends those that are under way: a closing server would wait for them. */
  cut(): void;
}

/** The listeners of Node.js, which the guard calls in its turn. */
type Listener = (this: Server, socket: Socket) => void;

interface Handshake {
  readonly socket: Socket;
  readonly remoteHost: string;
  readonly deadline: NodeJS.Timeout;
}

class HandshakeGuard implements Handshakes {
  private readonly server: Server;
  private readonly rules: () => TlsRules;
  private readonly parts: HandshakeParts;
  private readonly startTls: Listener;
  private readonly serve: Listener;
  private applied: TlsRules;
  /** Handshakes under way by the address of their connection, the oldest first. */
  private readonly underWay = new Map<string, Handshake>();
  /** Connections whose first byte is there, and whose turn is not. */
  private readonly waiting = new Set<Socket>();
  private turns = HANDSHAKES_AT_ONCE;
  private timer: NodeJS.Timeout | undefined;

  constructor(server: Server, rules: () => TlsRules, parts: HandshakeParts) {
    this.server = server;
    this.rules = rules;
    this.parts = parts;
    this.applied = rules();
    this.startTls = take(server, "connection");
    this.serve = take(server, "secureConnection");
    server.removeAllListeners("tlsClientError");
    server.on("tlsClientError", (error: Error, socket: TLSSocket) => this.failed(error, socket));
    server.on("secureConnection", (socket: TLSSocket) => this.secured(socket));
  }

  begin(socket: Socket): void {
    const remoteHost = remoteHostOf(socket.remoteAddress);
    this.makeRoom(remoteHost);
    const deadline = setTimeout(() => this.refuse(socket, "handshake too slow"), HANDSHAKE_MS);
    const key = addressOf(socket);
    this.underWay.set(key, { socket, remoteHost, deadline });
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      if (this.underWay.get(key)?.socket === socket) this.forget(key);
    });
    socket.once("data", (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      if (first[0] === HANDSHAKE_RECORD) this.queue(socket);
      else this.explain(socket, first);
    });
  }

  cut(): void {
    clearTimeout(this.timer);
    for (const { socket } of this.underWay.values()) socket.destroy();
  }

  private makeRoom(remoteHost: string): void {
    const own = [...this.underWay.values()].filter((other) => other.remoteHost === remoteHost);
    const [oldest] = own.length >= HANDSHAKES_PER_HOST ? own : this.underWay.values();
    if (oldest !== undefined && (own.length >= HANDSHAKES_PER_HOST || this.underWay.size >= HANDSHAKES))
      this.refuse(oldest.socket, "too many handshakes");
  }

  private queue(socket: Socket): void {
    this.waiting.add(socket);
    this.takeTurns();
  }

  private takeTurns(): void {
    for (const socket of this.waiting) {
      if (this.turns <= 0) break;
      this.turns--;
      this.waiting.delete(socket);
      this.start(socket);
    }
    if (this.turns < HANDSHAKES_AT_ONCE) this.timer ??= setTimeout(() => this.addTurns(), TURN_MS).unref();
  }

  private addTurns(): void {
    this.timer = undefined;
    this.turns = Math.min(HANDSHAKES_AT_ONCE, this.turns + (HANDSHAKES_PER_SECOND * TURN_MS) / 1000);
    this.takeTurns();
  }

  private start(socket: Socket): void {
    const rules = this.rules();
    if (rules !== this.applied) {
      this.applied = rules;
      this.server.setSecureContext(secureContextOptions(rules));
    }
    this.startTls.call(this.server, socket);
  }

  private secured(socket: TLSSocket): void {
    this.forget(addressOf(socket));
    socket.disableRenegotiation();
    const { clients } = this.applied;
    if (clients === undefined || isAccepted(socket, clients)) this.serve.call(this.server, socket);
    else {
      this.parts.metrics?.rejected("certificate");
      logRefusal(this.parts.logger, "certificate of the client not accepted", socket.remoteAddress);
      socket.destroy();
    }
  }

  private failed(error: Error, socket: TLSSocket): void {
    this.refuse(socket, `TLS: ${messageOf(error).slice(0, LOGGED_LENGTH)}`);
  }

  private refuse(socket: Socket, reason: string): void {
    this.parts.metrics?.rejected("handshake");
    logRefusal(this.parts.logger, reason, socket.remoteAddress);
    this.forget(addressOf(socket));
    socket.destroy();
  }

  /** Tells those who forgot the s of https. */
  private explain(socket: Socket, first: Buffer): void {
    this.parts.metrics?.rejected("handshake");
    logRefusal(this.parts.logger, "not TLS", socket.remoteAddress);
    if (!LOOKS_LIKE_HTTP.test(first.toString("latin1", 0, 8))) {
      socket.destroy();
      return;
    }
    socket.resume();
    socket.write(
      `HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: ${NOT_TLS.length}\r\nConnection: close\r\n\r\n${NOT_TLS}`,
    );
    socket.destroySoon();
  }

  private forget(key: string): void {
    const handshake = this.underWay.get(key);
    if (handshake === undefined) return;
    clearTimeout(handshake.deadline);
    this.underWay.delete(key);
    this.waiting.delete(handshake.socket);
  }
}

/** First byte of a TLS handshake. */
const HANDSHAKE_RECORD = 0x16;
const LOOKS_LIKE_HTTP = /^[A-Z]{3,7} /;
const NOT_TLS = "This port speaks TLS only: use https or wss.\n";
const TURN_MS = 10;
/** Characters of an error of TLS in the log. */
const LOGGED_LENGTH = 100;

function take(server: Server, event: "connection" | "secureConnection"): Listener {
  const [listener] = server.listeners(event);
  server.removeAllListeners(event);
  return listener as Listener;
}

/** Tells connections apart, before and after the handshake, which makes another object of a socket. */
function addressOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
