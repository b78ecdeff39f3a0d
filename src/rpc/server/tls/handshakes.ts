import type { Server } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Logger } from "../../../observability/logger.ts";
import { dropOldest } from "../../../primitives/boundedCache.ts";
import { durationClock } from "../../../primitives/clock.ts";
import type { RpcMetrics } from "../../rpcMetrics.ts";
import { createProxyRule, remoteHostOf } from "../remoteHost.ts";
import { ClientCertificates, checkCertificate } from "./clientCertificates.ts";
import { awaitClientHello, type NoHello } from "./clientHello.ts";
import {
  CERTIFICATES_BYTES,
  CERTIFICATES_BYTES_PER_MS,
  CERTIFICATES_COST_MS,
  HANDSHAKE_COST_MS,
  HANDSHAKES_PER_HOST,
  SHUT_OUT_HOSTS,
  SHUT_OUT_MS,
} from "./handshakeLimits.ts";
import { createHandshakeTime, type HandshakeTime } from "./handshakeTime.ts";
import { OverheadLimit } from "./recordOverhead.ts";
import { TlsRefusals, wordsFor } from "./tlsRefusals.ts";
import { secureContextOptions, type TlsRules } from "./tlsRules.ts";

export interface HandshakeParts {
  readonly logger: Logger;
  readonly metrics?: RpcMetrics | undefined;
  /** What the servers of the thread share; the server's own if not given. */
  readonly handshakeTime?: HandshakeTime | undefined;
}

interface HandshakeRules {
  /** Asked for each connection, so that keys can be replaced while the server runs. */
  readonly rules: () => TlsRules;
  /** Addresses that many clients may share. */
  readonly proxyAddresses: readonly string[];
  /** Handshakes under way; at most half of them, and HANDSHAKES_PER_HOST, are of one remote host. */
  readonly maxHandshakes: number;
  /** Time from the start of a connection to the end of its handshake. */
  readonly handshakeMs: number;
}

/**
 * Bounds what clients can do before their connection is secure, and by messages of TLS afterwards:
 *
 *   connection ─ first message ┬ of no handshake ─> a text that says so
 *                              └ turn, hosts in turn ─> handshake ─> certificate of the client ─> the server (recordOverhead.ts)
 *                └── handshakeMs in all; so many of them, the oldest makes room ──┘
 *
 * Handshakes have a share of the thread's time. One that ends before its turn gives it up, so that no more wait.
 * Nobody can renegotiate.
 */
export function guardHandshakes(server: Server, rules: HandshakeRules, parts: HandshakeParts): Handshakes {
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
  /** Names the connection; the handshake makes another object of the socket. */
  readonly key: string;
  readonly socket: Socket;
  readonly remoteHost: string;
  readonly deadline: NodeJS.Timeout;
  /** What it waits for when its first message is there; taken back when it ends before. */
  readonly turn: () => void;
}

class HandshakeGuard implements Handshakes {
  private readonly server: Server;
  private readonly rules: () => TlsRules;
  private readonly handshakeMs: number;
  private readonly most: { readonly all: number; readonly ofHost: number };
  private readonly isProxy: ReturnType<typeof createProxyRule>;
  private readonly refusals: TlsRefusals;
  private readonly time: HandshakeTime;
  private readonly overhead: OverheadLimit;
  private readonly certificates: ClientCertificates | undefined;
  private readonly startTls: Listener;
  private readonly serve: Listener;
  private applied: TlsRules;
  /** Handshakes under way by key, the oldest first. */
  private readonly underWay = new Map<string, Handshake>();
  /** Time until which hosts get no handshake, by the clock of durations, ms. */
  private readonly shutOut = new Map<string, number>();

  constructor(
    server: Server,
    { rules, proxyAddresses, maxHandshakes, handshakeMs }: HandshakeRules,
    parts: HandshakeParts,
  ) {
    this.server = server;
    this.rules = rules;
    this.handshakeMs = handshakeMs;
    this.most = { all: maxHandshakes, ofHost: Math.min(Math.ceil(maxHandshakes / 2), HANDSHAKES_PER_HOST) };
    this.isProxy = createProxyRule(proxyAddresses);
    this.refusals = new TlsRefusals(parts);
    this.time = parts.handshakeTime ?? createHandshakeTime(durationClock);
    this.overhead = new OverheadLimit(server, ({ secure, remoteHost, account }, waitMs) => {
      this.refusals.handshake("more messages of TLS than content", remoteHost);
      if (account === remoteHost) this.shut(remoteHost, Math.max(SHUT_OUT_MS, waitMs));
      secure.destroy();
    });
    this.applied = rules();
    if (this.applied.clients !== undefined) this.certificates = new ClientCertificates(server);
    this.startTls = take(server, "connection");
    this.serve = take(server, "secureConnection");
    server.removeAllListeners("tlsClientError");
    server.on("tlsClientError", (error: Error, socket: TLSSocket) => this.failed(error, socket));
    server.on("secureConnection", (socket: TLSSocket) => this.secured(socket));
  }

  begin(socket: Socket): void {
    const remoteHost = remoteHostOf(socket.remoteAddress);
    if ((this.shutOut.get(remoteHost) ?? 0) > durationClock.nowMs()) {
      this.refusals.handshake(SHUT_OUT, remoteHost);
      socket.destroy();
      return;
    }
    this.makeRoom(remoteHost, socket);
    const key = keyOf(socket);
    const deadline = setTimeout(() => this.refuse(key, "too slow"), this.handshakeMs);
    const turn = (): void => {
      putBack();
      this.start(handshake);
    };
    const handshake: Handshake = { key, socket, remoteHost, deadline, turn };
    this.underWay.set(key, handshake);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.left(handshake));
    const putBack = awaitClientHello(socket, (refused) => {
      if (refused !== undefined) this.explain(handshake, refused);
      else this.time.take(turn, remoteHost);
    });
  }

  cut(): void {
    for (const { socket } of this.underWay.values()) socket.destroy();
  }

  private makeRoom(remoteHost: string, { remoteAddress }: Socket): void {
    const all = [...this.underWay.values()];
    const own = all.filter((other) => other.remoteHost === remoteHost);
    const isFull = all.length >= this.most.all;
    if (!isFull && (own.length < this.most.ofHost || this.isProxy(remoteAddress))) return;
    const [oldest] = isFull ? ofHostWithMost(all) : own;
    if (oldest !== undefined) this.refuse(oldest.key, "too many handshakes at one time");
  }

  private start({ socket }: Handshake): void {
    if (socket.destroyed) return;
    const rules = this.rules();
    if (rules !== this.applied) {
      this.applied = rules;
      this.server.setSecureContext(secureContextOptions(rules));
    }
    this.time.spend(HANDSHAKE_COST_MS + (rules.clients === undefined ? 0 : CERTIFICATES_COST_MS));
    // Node.js reads the first message in the next tick, and has signed its answer at the end of that.
    let startedAtMs = 0;
    process.nextTick(() => {
      startedAtMs = durationClock.nowMs();
    });
    this.startTls.call(this.server, socket);
    process.nextTick(() =>
      this.time.spend(Math.max(0, durationClock.nowMs() - startedAtMs - HANDSHAKE_COST_MS)),
    );
  }

  private secured(socket: TLSSocket): void {
    const handshake = this.underWay.get(keyOf(socket));
    if (handshake !== undefined) this.forget(handshake);
    socket.disableRenegotiation();
    socket.once("error", ({ code }: NodeJS.ErrnoException) => {
      if (code === "ERR_TLS_RENEGOTIATION_DISABLED")
        this.refusals.handshake("the client renegotiates", handshake?.remoteHost);
    });
    const { clients } = this.applied;
    const checked = clients && checkCertificate(socket, this.certificates?.of(socket), clients);
    if (checked !== undefined) this.settle(checked.bytes, socket);
    if (checked?.refused === undefined) {
      if (handshake !== undefined) this.watch(handshake, socket);
      this.serve.call(this.server, socket);
      return;
    }
    this.refusals.certificate(checked.refused, checked.shown, socket.remoteAddress);
    socket.destroy();
  }

  /** Clients behind a proxy have its address, so that each connection answers for itself there. */
  private watch({ socket, remoteHost, key }: Handshake, secure: TLSSocket): void {
    const account = this.isProxy(socket.remoteAddress) ? key : remoteHost;
    this.overhead.watch({ socket, secure, remoteHost, account });
  }

  /** Charges for the certificates of a client. Who sent too many is shut out, which saves the others from waiting for long. */
  private settle(bytes: number, { remoteAddress }: Socket): void {
    const isShut = bytes > CERTIFICATES_BYTES && !this.isProxy(remoteAddress);
    if (isShut) this.shut(remoteHostOf(remoteAddress), SHUT_OUT_MS);
    const charged = isShut ? CERTIFICATES_BYTES : bytes;
    this.time.spend(charged / CERTIFICATES_BYTES_PER_MS - CERTIFICATES_COST_MS);
  }

  /** The host gets no handshakes for so long. */
  private shut(host: string, durationMs: number): void {
    const untilMs = Math.max(this.shutOut.get(host) ?? 0, durationClock.nowMs() + durationMs);
    this.shutOut.delete(host);
    this.shutOut.set(host, untilMs);
    dropOldest(this.shutOut, SHUT_OUT_HOSTS);
    for (const { key, remoteHost } of this.underWay.values())
      if (remoteHost === host) this.refuse(key, SHUT_OUT);
  }

  private failed(error: Error & { readonly code?: string }, socket: TLSSocket): void {
    const handshake = this.underWay.get(keyOf(socket));
    if (handshake === undefined) socket.destroy();
    else if (error.code === "ECONNRESET") socket.destroy();
    else this.refuse(handshake.key, wordsFor(error));
  }

  private refuse(key: string, reason: string): void {
    const handshake = this.underWay.get(key);
    if (handshake === undefined) return;
    this.refusals.handshake(reason, handshake.remoteHost);
    this.forget(handshake);
    handshake.socket.destroy();
  }

  /** A client that sent nothing, such as a probe of the port, was no handshake. */
  private left(handshake: Handshake): void {
    if (!this.forget(handshake)) return;
    if (handshake.socket.bytesRead > 0) this.refusals.abandoned(handshake.remoteHost);
  }

  /** Tells those who forgot the s of https. */
  private explain(handshake: Handshake, { reason, first }: NoHello): void {
    const { socket, remoteHost } = handshake;
    if (!LOOKS_LIKE_HTTP.test(first.toString("latin1", 0, 8))) {
      this.refuse(handshake.key, reason);
      return;
    }
    this.refusals.handshake("plain HTTP", remoteHost);
    this.forget(handshake);
    socket.resume();
    socket.write(
      `HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: ${NOT_TLS.length}\r\nConnection: close\r\n\r\n${NOT_TLS}`,
    );
    socket.destroySoon();
  }

  /** Whether it was under way. */
  private forget({ key, socket, remoteHost, deadline, turn }: Handshake): boolean {
    clearTimeout(deadline);
    this.time.withdraw(turn, remoteHost);
    return this.underWay.get(key)?.socket === socket && this.underWay.delete(key);
  }
}

const SHUT_OUT = "its address sent too many certificates or other messages of TLS before";
const LOOKS_LIKE_HTTP = /^[A-Z]{3,7} /;
const NOT_TLS = "This port speaks TLS only: use https or wss.\n";

function take(server: Server, event: "connection" | "secureConnection"): Listener {
  const [listener] = server.listeners(event);
  server.removeAllListeners(event);
  return listener as Listener;
}

/** Tells connections apart, before and after the handshake. */
function keyOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}

function ofHostWithMost(handshakes: readonly Handshake[]): readonly Handshake[] {
  const byHost = new Map<string, Handshake[]>();
  for (const one of handshakes) {
    const own = byHost.get(one.remoteHost);
    if (own === undefined) byHost.set(one.remoteHost, [one]);
    else own.push(one);
  }
  return [...byHost.values()].reduce((most, other) => (other.length > most.length ? other : most), []);
}
