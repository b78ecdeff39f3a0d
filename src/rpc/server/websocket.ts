import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Logger } from "../../observability/logger.ts";
import type { Clock } from "../../primitives/clock.ts";
import { ok, type Result } from "../../primitives/result.ts";
import type { Dispatcher } from "../dispatcher.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import { type ConnectionLimits, limitConnections } from "./connectionLimits.ts";
import { createForeignRule } from "./foreignPages.ts";
import { createHostAllowlist } from "./hostAllowlist.ts";
import { HOST_REFUSED, respondNoAuthentication, respondRefusal } from "./httpResponse.ts";
import {
  ALL_ANSWERS_BYTES,
  ALL_BACKLOGS_BYTES,
  ARRIVAL_LIMIT_MS,
  ARRIVAL_TIMES,
  CLOSING_LIMIT_MS,
  FRAMES_PER_MESSAGE,
  HEARTBEAT_MS,
} from "./limits.ts";
import type { MessageReader } from "./messageReader.ts";
import { remoteHostOf } from "./remoteHost.ts";
import { listen, listening, portOf, type RpcServer, type ServerErrorCode } from "./server.ts";
import { type ServedConnection, serveConnection } from "./websocketConnection.ts";

/**
 * JSON-RPC and subscriptions over WebSocket, on a port of its own, under any path
 * (json-rpc-errors.md#websocket). Requests other than upgrades get a text that says so. There is no CORS here: any page
 * may connect, but a page of a foreign origin gets no method that changes the node during the whole connection.
 */
export interface WebSocketSettings extends ConnectionLimits {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly allowedHosts: readonly string[];
  /** Pages of these origins may use all methods. */
  readonly trustedOrigins: readonly string[];
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
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: RpcMetrics | undefined;
}

export async function openWebSocketServer(
  settings: WebSocketSettings,
  { dispatcher, reader, clock, logger, metrics }: WebSocketParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const { host, port, timeoutMs, arrivalTimes = ARRIVAL_TIMES } = settings;
  const isForeign = createForeignRule(settings.trustedOrigins, settings.allowedHosts);
  const checkHost = createHostAllowlist(settings.allowedHosts);
  const served = new Set<ServedConnection>();
  const upgrader = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: settings.maxFrameBytes * FRAMES_PER_MESSAGE,
    handleProtocols: (offered) => (offered.has(CLIENT_QUIRK) ? CLIENT_QUIRK : false),
  });
  const onBacklog = watchBacklogs(served, { clock, logger });
  const onAnswer = watchAnswers(served, settings.unreadLimitBytes ?? ALL_ANSWERS_BYTES, logger);
  const server = createServer({
    requireHostHeader: false,
    requestTimeout: ARRIVAL_LIMIT_MS,
    headersTimeout: arrivalTimes.headersMs,
    connectionsCheckingInterval: arrivalTimes.checkMs,
  });
  const connections = limitConnections(server, settings, {
    option: "--rpc-ws-max-active-connections",
    logger,
    onRefused: () => metrics?.rejected("connections"),
  });

  server.on("request", (request, response) => {
    response.sendDate = false;
    const hostCheck = checkHost(request.headers.host);
    if (hostCheck !== "allowed") metrics?.rejected("host");
    if (hostCheck === "allowed") answerPlainRequest(request, response);
    else if (hostCheck === "malformed") respondRefusal(response, 400, "");
    else respondRefusal(response, 403, HOST_REFUSED, "application/json; charset=utf-8");
  });
  server.on("upgrade", (request, stream, head) => {
    const hostCheck = checkHost(request.headers.host);
    if (hostCheck !== "allowed") {
      metrics?.rejected("host");
      refuseUpgrade(stream, hostCheck === "malformed" ? 400 : 403);
      return;
    }
    const isForeignPage = isForeign(request.headers);
    if (isForeignPage && !connections.admitsPage(request.socket)) {
      refuseUpgrade(stream, 503);
      return;
    }
    upgrader.handleUpgrade(request, stream, head, (socket) => {
      const remoteHost = remoteHostOf(request.socket.remoteAddress);
      connections.keep(request.socket);
      const parts = {
        dispatcher,
        reader,
        clock,
        logger,
        timeoutMs,
        remoteHost,
        isForeignPage,
        onBacklog,
        onAnswer,
      };
      const connection = serveConnection(socket, stream, parts);
      served.add(connection);
      connection.onClose(() => served.delete(connection));
    });
  });

  const listened = await listening(() => listen(server, host, port), host, port);
  if (!listened.ok) return listened;
  const heartbeat = startHeartbeat(clock, served);
  return ok({
    host,
    port: portOf(server),
    get connectionCount() {
      return served.size;
    },
    close: () => {
      heartbeat.stop();
      connections.cutSilent();
      return closeServer(server, upgrader);
    },
  });
}

/** Sub-protocol that a widespread client library requests by mistake. */
const CLIENT_QUIRK = "undefined";

function answerPlainRequest({ method, url }: IncomingMessage, response: ServerResponse): void {
  if (method === "POST" && url === "/login") respondNoAuthentication(response);
  else respondRefusal(response, 400, "Websocket endpoint can't handle HTTP requests");
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

/** Bounds the backlogs of notifications of all connections together: above the limit the slowest readers are cut. */
function watchBacklogs(
  connections: ReadonlySet<ServedConnection>,
  { clock, logger }: Pick<WebSocketParts, "clock" | "logger">,
): (bytes: number) => void {
  let nextCheckMs = clock.nowMs();
  return (bytes) => {
    if (bytes < CHECKED_BACKLOG_BYTES || clock.nowMs() < nextCheckMs) return;
    nextCheckMs = clock.nowMs() + CHECK_PAUSE_MS;
    cutSlowest(connections, ({ backlogBytes }) => backlogBytes, ALL_BACKLOGS_BYTES, logger);
  };
}

/** The same for answers: a client may request many large ones before the first is ready. */
function watchAnswers(
  connections: ReadonlySet<ServedConnection>,
  limitBytes: number,
  logger: Logger,
): (bytes: number) => void {
  /** Bytes, including those of connections that were just cut. */
  let total = 0;
  return (bytes) => {
    total += bytes;
    if (bytes < 0 || total <= limitBytes) return;
    cutSlowest(connections, ({ unreadAnswerBytes }) => unreadAnswerBytes, limitBytes, logger);
  };
}

/** Cuts the connections with most unread bytes until the rest is within the limit. */
function cutSlowest(
  connections: ReadonlySet<ServedConnection>,
  waitingFor: (connection: ServedConnection) => number,
  limitBytes: number,
  logger: Logger,
): void {
  let total = 0;
  for (const connection of connections) total += waitingFor(connection);
  if (total <= limitBytes) return;
  logger.warn(
    { waitingBytes: total },
    "WebSocket clients read too slowly; the slowest connections are closed",
  );
  for (const connection of [...connections].sort((a, b) => waitingFor(b) - waitingFor(a))) {
    total -= waitingFor(connection);
    connection.cut();
    if (total <= limitBytes) return;
  }
}

const CHECKED_BACKLOG_BYTES = 1024 * 1024;
const CHECK_PAUSE_MS = 100;

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
