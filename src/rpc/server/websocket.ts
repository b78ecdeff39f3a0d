import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Logger } from "../../observability/logger.ts";
import type { Clock } from "../../primitives/clock.ts";
import { ok, type Result } from "../../primitives/result.ts";
import { type Gate, tokenOf } from "../access/gate.ts";
import { createLoginHandler } from "../access/loginRequests.ts";
import type { Dispatcher } from "../dispatcher.ts";
import { remade } from "../remade.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import { type ListeningSocket, openBalance } from "./acceptBalance.ts";
import { type ConnectionLimits, type LimitedConnections, limitConnections } from "./connectionLimits.ts";
import { createForeignRule, type ForeignRule } from "./foreignPages.ts";
import { createHostAllowlist, type HostCheck } from "./hostAllowlist.ts";
import { createHostRefusalLog, respondHostRefused } from "./hostRefusal.ts";
import { respondRefusal } from "./httpResponse.ts";
import {
  ALL_ANSWERS_BYTES,
  ARRIVAL_LIMIT_MS,
  ARRIVAL_TIMES,
  CLOSING_LIMIT_MS,
  FRAMES_PER_MESSAGE,
  HEARTBEAT_MS,
} from "./limits.ts";
import type { MessageReader } from "./messageReader.ts";
import { logRefusal } from "./refusalLog.ts";
import { remoteHostOf } from "./remoteHost.ts";
import {
  listen,
  listening,
  listenOn,
  portOf,
  type RpcServer,
  type ServerAccess,
  type ServerErrorCode,
} from "./server.ts";
import { type SharedTotals, shareTotals } from "./sharedTotals.ts";
import { guardServer, serverOptions } from "./tls/guardServer.ts";
import type { TlsRules } from "./tls/tlsRules.ts";
import { limitUnread, type UnreadLimits } from "./unreadLimits.ts";
import { type ConnectionParts, type ServedConnection, serveConnection } from "./websocketConnection.ts";

/**
 * JSON-RPC and subscriptions over WebSocket, on a port of its own, under any path
 * (json-rpc-errors.md#websocket). Requests other than upgrades get a text that says so. There is no CORS here: any page
 * may connect, but a page of a foreign origin gets no method that changes the node during the whole connection.
 */
export interface WebSocketSettings extends ConnectionLimits, ServerAccess {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** A socket that listens there already (node/rpcThreads/sharedListener.ts). */
  readonly socket?: ListeningSocket | undefined;
  /** Encrypts connections by the rules of the moment. */
  readonly tls?: (() => TlsRules) | undefined;
  /** Replaces the lists of these settings; asked for each request. */
  readonly access?: (() => ServerAccess) | undefined;
  /** A message may have FRAMES_PER_MESSAGE times as many bytes; a larger one ends the connection. */
  readonly maxFrameBytes: number;
  /** Time after which long queries stop. */
  readonly timeoutMs: number;
  /** Limit for the unread answers of all clients together; ALL_ANSWERS_BYTES if not given. */
  readonly unreadLimitBytes?: number;
}

export interface WebSocketParts {
  readonly dispatcher: Dispatcher;
  readonly reader: MessageReader;
  /** Absent where everybody may call. The token comes with the upgrade, and is checked again for each message. */
  readonly gate?: Gate | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: RpcMetrics | undefined;
  /** What is held together with other threads; nothing is if not given. */
  readonly totals?: SharedTotals | undefined;
}

export async function openWebSocketServer(
  settings: WebSocketSettings,
  parts: WebSocketParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const { host, port, socket, tls, arrivalTimes = ARRIVAL_TIMES } = settings;
  const { clock, logger, metrics } = parts;
  const served = new Set<ServedConnection>();
  const upgrader = createUpgrader(settings);
  const options = {
    requireHostHeader: false,
    requestTimeout: ARRIVAL_LIMIT_MS,
    headersTimeout: arrivalTimes.headersMs,
    connectionsCheckingInterval: arrivalTimes.checkMs,
  };
  const server =
    tls === undefined
      ? createHttpServer(options)
      : createHttpsServer({ ...options, ...serverOptions(tls()) });
  const handshakes = guardServer(server, settings, parts);
  const connections = limitConnections(server, settings, {
    option: "--rpc-ws-max-active-connections",
    logger,
    onRefused: () => metrics?.rejected("connections"),
    isTls: tls !== undefined,
  });
  const checkHost = remade(
    () => settings.access?.() ?? settings,
    ({ allowedHosts }) => createHostAllowlist(allowedHosts),
  );
  const logHostRefusal = createHostRefusalLog(logger);
  const checkCounted: CheckHost = (request) => {
    const result = checkHost()(request.headers.host);
    if (result === "allowed") return result;
    metrics?.rejected("host");
    logHostRefusal(request);
    return result;
  };
  server.on("request", createPlainRequestHandler(checkCounted, createProgramLogin(settings, parts)));
  const { unreadLimitBytes = ALL_ANSWERS_BYTES } = settings;
  const { totals = shareTotals() } = parts;
  const unread = limitUnread(served, unreadLimitBytes, { clock, logger, totals });
  const serve = createConnectionOpener(served, unread, settings, parts);
  server.on(
    "upgrade",
    createUpgradeHandler(settings, { checkHost: checkCounted, connections, upgrader, serve }),
  );

  const begin = (): Promise<void> =>
    socket === undefined ? listen(server, host, port) : listenOn(server, socket.descriptor);
  const listened = await listening(begin, host, port);
  if (!listened.ok) return listened;
  const balance = openBalance(server, settings, connections);
  const heartbeat = startHeartbeat(clock, served);
  return ok({
    host,
    port: portOf(server),
    get connectionCount() {
      return served.size;
    },
    close: () => {
      heartbeat.stop();
      unread.stop();
      balance?.stop();
      handshakes.cut();
      connections.cutSilent();
      return closeServer(server, upgrader);
    },
  });
}

function createUpgrader({ maxFrameBytes }: WebSocketSettings): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: maxFrameBytes * FRAMES_PER_MESSAGE,
    handleProtocols: (offered) => (offered.has(CLIENT_QUIRK) ? CLIENT_QUIRK : false),
  });
}

/** Sub-protocol that a widespread client library requests by mistake. */
const CLIENT_QUIRK = "undefined";

type CheckHost = (request: IncomingMessage) => HostCheck;

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers requests that are no upgrades: log-ins, and others that are mistaken here. */
function createPlainRequestHandler(checkHost: CheckHost, login: RequestHandler): RequestHandler {
  return (request, response) => {
    response.sendDate = false;
    const hostCheck = checkHost(request);
    const isLogin = request.method === "POST" && request.url?.split("?", 1)[0] === "/login";
    if (hostCheck === "allowed" && isLogin) login(request, response);
    else if (hostCheck === "allowed")
      respondRefusal(response, 400, "Websocket endpoint can't handle HTTP requests");
    else respondHostRefused(response, hostCheck);
  };
}

type AccessSettings = Pick<WebSocketSettings, "access" | keyof ServerAccess>;

function foreignRuleOf(settings: AccessSettings): () => ForeignRule {
  return remade(
    () => settings.access?.() ?? settings,
    ({ trustedOrigins, allowedHosts }) => createForeignRule(trustedOrigins, allowedHosts),
  );
}

/** Log-ins, save those of foreign pages, which cannot read the answer, but could use up their viewer's attempts. */
function createProgramLogin(
  settings: AccessSettings,
  parts: Pick<WebSocketParts, "gate" | "logger" | "metrics">,
): RequestHandler {
  const isForeign = foreignRuleOf(settings);
  const login = createLoginHandler(parts);
  return (request, response) => {
    if (!isForeign()(request.headers)) return login(request, response);
    parts.metrics?.rejected("origin");
    logRefusal(parts.logger, "log-in of a foreign page", request.socket.remoteAddress);
    respondRefusal(response, 403, "");
  };
}

type ServeConnection = (
  socket: WebSocket,
  stream: Duplex,
  client: Pick<ConnectionParts, "remoteHost" | "isForeignPage" | "token">,
) => void;

/** Upgrades connections that pass the checks of host, origin and limits, and hands them to `serve`. */
function createUpgradeHandler(
  settings: AccessSettings,
  parts: {
    readonly checkHost: CheckHost;
    readonly connections: LimitedConnections;
    readonly upgrader: WebSocketServer;
    readonly serve: ServeConnection;
  },
): (request: IncomingMessage, stream: Duplex, head: Buffer) => void {
  const { checkHost, connections, upgrader, serve } = parts;
  const isForeign = foreignRuleOf(settings);
  return (request, stream, head) => {
    const hostCheck = checkHost(request);
    if (hostCheck !== "allowed") {
      refuseUpgrade(stream, hostCheck === "malformed" ? 400 : 403);
      return;
    }
    const isForeignPage = isForeign()(request.headers);
    if (isForeignPage && !connections.admitsPage(request.socket)) {
      refuseUpgrade(stream, 503);
      return;
    }
    upgrader.handleUpgrade(request, stream, head, (socket) => {
      const remoteHost = remoteHostOf(request.socket.remoteAddress);
      connections.keep(request.socket);
      serve(socket, stream, { remoteHost, isForeignPage, token: tokenOf(request) });
    });
  };
}

/** Serves connections, and keeps them in `served` until they close, with limits on what they leave unread together. */
function createConnectionOpener(
  served: Set<ServedConnection>,
  { onBacklog, onAnswer }: UnreadLimits,
  { timeoutMs }: WebSocketSettings,
  { dispatcher, reader, gate, clock, logger }: WebSocketParts,
): ServeConnection {
  const common = { dispatcher, reader, gate, clock, logger, timeoutMs, onBacklog, onAnswer };
  return (socket, stream, client) => {
    const connection = serveConnection(socket, stream, { ...common, ...client });
    served.add(connection);
    const { token: _secret, ...shown } = client;
    logger.often("debug", "WebSocket opened", () => shown);
    connection.onClose(() => {
      served.delete(connection);
      logger.often("debug", "WebSocket closed", () => shown);
    });
  };
}

function refuseUpgrade(stream: Duplex, status: number): void {
  stream.on("error", () => stream.destroy());
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    () => stream.destroy(),
  );
}

/** Pings all connections periodically: load balancers drop silent ones, and dead ones must be cut. */
function startHeartbeat(clock: Clock, connections: ReadonlySet<ServedConnection>): { stop(): void } {
  const beat = (): void => {
    for (const connection of connections) connection.heartbeat();
    timer = clock.at(clock.nowMs() + HEARTBEAT_MS, beat);
  };
  let timer = clock.at(clock.nowMs() + HEARTBEAT_MS, beat);
  return { stop: () => timer.cancel() };
}

/** Close code 1001. */
const GOING_AWAY = 1001;

async function closeServer(server: Server, upgrader: WebSocketServer): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of upgrader.clients) socket.close(GOING_AWAY);
  const cut = setTimeout(() => {
    for (const socket of upgrader.clients) socket.terminate();
    server.closeAllConnections();
  }, CLOSING_LIMIT_MS);
  await closed;
  clearTimeout(cut);
}
