import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import type { Endpoint } from "../../primitives/endpoint.ts";
import { ok, type Result } from "../../primitives/result.ts";
import { memoized } from "../memoized.ts";
import { type AcceptBalance, type ListeningSocket, openBalance } from "./acceptBalance.ts";
import { answerBrokenRequest } from "./badRequests.ts";
import {
  type ConnectionLimits,
  type LimitedConnections,
  limitConnections,
  type SharedConnections,
} from "./connectionLimits.ts";
import { createHostAllowlist, type HostCheck } from "./hostAllowlist.ts";
import { createHostRefusalLog, respondProbeRefused } from "./hostRefusal.ts";
import { ARRIVAL_LIMIT_MS, ARRIVAL_TIMES, type ArrivalTimes, CLOSING_LIMIT_MS } from "./limits.ts";
import { Pipelines } from "./pipelines.ts";
import { listen, listening, listenOn, portOf, type RpcServer, type ServerErrorCode } from "./server.ts";
import { guardServer, serverOptions } from "./tls/guardServer.ts";
import type { HandshakeParts, Handshakes } from "./tls/handshakes.ts";
import type { TlsRules } from "./tls/tlsRules.ts";
import {
  serveUpgrades,
  type UpgradedConnections,
  type UpgradeGuard,
  type UpgradeParts,
  type UpgradeSettings,
} from "./upgrades.ts";

/** What an operator sets of a port for callers, whatever is spoken on it. */
export interface PortSettings extends ConnectionLimits, Endpoint {
  /** Any free port where the port is 0. */
  readonly port: number;
  /** Names without ports by which the port may be addressed: ["*"] for any, [] for none. */
  readonly hostAllowlist: readonly string[];
  /** Undefined where connections are not encrypted. */
  readonly tls?: TlsRules | undefined;
}

interface ListenerSettings extends PortSettings {
  /** The command-line option that limits its connections; undefined where none does. */
  readonly limitOption: string | undefined;
  /** How long a connection is kept after an answer, milliseconds; the default of Node.js where absent. */
  readonly keepAliveMs?: number;
  /** How long a connection may stand still at all, milliseconds; for ever where absent. */
  readonly idleMs?: number;
}

export interface ListenerParts extends HandshakeParts, SharedConnections {
  /** The settings of now, of which lists of hosts and keys may have changed since the start; those of the start if not given. */
  readonly current?: (() => Pick<PortSettings, "hostAllowlist" | "tls">) | undefined;
  /** A socket that listens there already (callers/threads/sharedListener.ts). */
  readonly socket?: ListeningSocket | undefined;
  /** For tests; ARRIVAL_TIMES if not given. */
  readonly arrivalTimes?: ArrivalTimes | undefined;
}

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers a request whose Host is not allowed. */
type RefuseHost = (request: IncomingMessage, response: ServerResponse, check: HostCheck) => void;

/**
 * A port for callers, whatever is spoken on it: JSON-RPC over HTTP or WebSocket, GraphQL, the explorer, metrics. What
 * protects one port protects all:
 *
 *   socket ─ TLS handshakes: bounded, timed (tls/) ─> connections: bounded, shared out by address (connectionLimits.ts)
 *     ─> not HTTP, or slow: a bare status (badRequests.ts) ─> pipelined requests: bounded (pipelines.ts)
 *     ─> host allow-list ─403─> the port's own answers, or an upgrade to WebSocket (upgrades.ts)
 *
 * Origins, tokens and budgets are the business of what answers. A new port says what answers, and how long it may take.
 */
export class Listener {
  readonly pipelines: Pipelines;
  private readonly connections: LimitedConnections;
  private readonly settings: ListenerSettings;
  private readonly parts: ListenerParts;
  private readonly server: Server;
  private readonly handshakes: Handshakes;
  private readonly allowlist: () => (host: string | undefined) => HostCheck;
  private readonly logHostRefusal: (request: IncomingMessage) => void;
  private upgraded: UpgradedConnections | undefined;
  private balance: AcceptBalance | undefined;
  private isClosing = false;

  constructor(settings: ListenerSettings, parts: ListenerParts) {
    const { tls, idleMs, limitOption } = settings;
    const { logger, metrics, current = () => settings } = parts;
    this.settings = settings;
    this.parts = parts;
    this.server = createServer(settings, parts);
    if (idleMs !== undefined) this.server.timeout = idleMs;
    this.server.on("clientError", (error, socket) => answerBrokenRequest(error, socket as Socket, logger));
    // Whether a server has TLS does not change, but keys and clients do.
    const rules = tls && (() => current().tls ?? tls);
    this.handshakes = guardServer(this.server, { ...settings, rules }, parts);
    this.connections = limitConnections(this.server, settings, {
      ...parts,
      option: limitOption,
      onRefused: () => metrics?.rejected("connections"),
      isTls: tls !== undefined,
    });
    this.pipelines = new Pipelines(logger);
    this.allowlist = memoized(() => current().hostAllowlist, createHostAllowlist);
    this.logHostRefusal = createHostRefusalLog(logger);
  }

  /** Answers the requests that the port admits, once. */
  onRequest(answer: RequestHandler, refuseHost: RefuseHost = refuseProbe): void {
    this.server.on("request", (request, response) => {
      response.sendDate = false;
      if (!this.pipelines.admits(request, response)) return;
      // Otherwise a client that asks without a pause would hold up the close, until its newest request is cut.
      if (this.isClosing) response.setHeader("Connection", "close");
      const check = this.checkHost(request);
      if (check === "allowed") answer(request, response);
      else refuseHost(request, response, check);
    });
  }

  /** Serves JSON-RPC on connections that ask to become WebSockets, under any path, once. */
  onUpgrade(
    settings: UpgradeSettings,
    parts: UpgradeParts,
    guard: Pick<UpgradeGuard, "judgePage" | "hostOf">,
  ): UpgradedConnections {
    const { connections } = this;
    const checkHost = (request: IncomingMessage): HostCheck => this.checkHost(request);
    this.upgraded = serveUpgrades(this.server, settings, parts, { ...guard, connections, checkHost });
    return this.upgraded;
  }

  async open(): Promise<Result<RpcServer, ServerErrorCode>> {
    const { settings, parts, server, connections } = this;
    const { host, port } = settings;
    const { socket } = parts;
    const begin = (): Promise<void> =>
      socket === undefined ? listen(server, host, port) : listenOn(server, socket.descriptor);
    const listened = await listening(begin, settings);
    if (!listened.ok) {
      this.upgraded?.stop();
      return listened;
    }
    this.balance = openBalance(server, parts, connections);
    return ok({
      host,
      port: portOf(server),
      get connectionCount() {
        return connections.count;
      },
      close: () => this.close(),
    });
  }

  private async close(): Promise<void> {
    const { server, upgraded } = this;
    this.isClosing = true;
    upgraded?.stop();
    this.balance?.stop();
    this.handshakes.cut();
    this.connections.cutSilent();
    // Otherwise the close would wait for connections that are idle after their last answer.
    server.keepAliveTimeout = 1;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    upgraded?.leave();
    const cut = setTimeout(() => {
      upgraded?.cut();
      server.closeAllConnections();
    }, CLOSING_LIMIT_MS);
    await closed;
    clearTimeout(cut);
  }

  private checkHost(request: IncomingMessage): HostCheck {
    const result = this.allowlist()(request.headers.host);
    if (result === "allowed") return result;
    this.parts.metrics?.rejected("host");
    this.logHostRefusal(request);
    return result;
  }
}

function createServer(
  { tls, keepAliveMs }: ListenerSettings,
  { arrivalTimes = ARRIVAL_TIMES }: ListenerParts,
): Server {
  const options = {
    requireHostHeader: false,
    requestTimeout: ARRIVAL_LIMIT_MS,
    headersTimeout: arrivalTimes.headersMs,
    connectionsCheckingInterval: arrivalTimes.checkMs,
    ...(keepAliveMs !== undefined && { keepAliveTimeout: keepAliveMs }),
  };
  return tls === undefined
    ? createHttpServer(options)
    : createHttpsServer({ ...options, ...serverOptions(tls) });
}

function refuseProbe(request: IncomingMessage, response: ServerResponse, check: HostCheck): void {
  respondProbeRefused(response, check, request.headers.host);
}
