import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import { onceKnown } from "../../primitives/onceKnown.ts";
import { ok, type Result } from "../../primitives/result.ts";
import { createLoginHandler } from "../access/loginRequests.ts";
import { remade } from "../remade.ts";
import { type ListeningSocket, openBalance } from "./acceptBalance.ts";
import { answerBrokenRequest } from "./badRequests.ts";
import { type ConnectionLimits, limitConnections } from "./connectionLimits.ts";
import { createOriginRule } from "./crossOrigin.ts";
import { createForeignRule, type ForeignRule } from "./foreignPages.ts";
import { healthBody, type Objections } from "./health.ts";
import { createHostAllowlist } from "./hostAllowlist.ts";
import { createHostRefusalLog, respondHostRefused, respondProbeRefused } from "./hostRefusal.ts";
import { createHttpRequestHandler, type HttpRequestParts, type HttpRequestSettings } from "./httpRequests.ts";
import { respondNotAllowed, respondNotFound, respondRefusal, respondUntyped } from "./httpResponse.ts";
import {
  ARRIVAL_LIMIT_MS,
  ARRIVAL_TIMES,
  CLOSING_LIMIT_MS,
  KEEP_ALIVE_MS,
  STUCK_READER_MS,
} from "./limits.ts";
import { Pipelines } from "./pipelines.ts";
import { logRefusal } from "./refusalLog.ts";
import {
  listen,
  listening,
  listenOn,
  portOf,
  type RpcServer,
  type ServerAccess,
  type ServerErrorCode,
} from "./server.ts";
import { guardServer, serverOptions } from "./tls/guardServer.ts";
import type { HandshakeParts } from "./tls/handshakes.ts";
import type { TlsRules } from "./tls/tlsRules.ts";

/**
 * JSON-RPC over HTTP (json-rpc-errors.md#http).
 *
 *   socket ─ over the limit: closed ─> host allow-list ─403─> origin ─403, 204─> route ┬ POST /  httpRequests.ts
 *                                                                                      ├ GET /, /liveness, /readiness
 *                                                                                      └ POST /login (access/), else 404, 405
 *
 * The server is that of Node.js: five routes need no framework, and loading one took longer than all else that a thread for
 * callers loads.
 */
export interface HttpSettings extends Omit<HttpRequestSettings, "isForeign">, ConnectionLimits, HttpAccess {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** A socket that listens there already (node/rpcThreads/sharedListener.ts). */
  readonly socket?: ListeningSocket | undefined;
  /** Encrypts connections by the rules of the moment. */
  readonly tls?: (() => TlsRules) | undefined;
  /** Replaces the lists of these settings; asked for each request. */
  readonly access?: (() => HttpAccess) | undefined;
}

export interface HttpAccess extends ServerAccess {
  /** Regular expressions; see createOriginRule. */
  readonly corsOrigins: readonly string[];
}

export interface HttpParts extends Omit<HttpRequestParts, "pipelines">, HandshakeParts {
  /** What is objected to the node being ready, for the query of the request. */
  readonly readiness: (query: URLSearchParams) => Objections | Promise<Objections>;
}

export async function openHttpServer(
  settings: HttpSettings,
  parts: HttpParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const { host, port, socket } = settings;
  const app = createApp(settings, parts);
  const { server } = app;
  const handshakes = guardServer(server, settings, parts);
  const connections = limitConnections(server, settings, {
    option: "--rpc-http-max-active-connections",
    logger: parts.logger,
    onRefused: () => parts.metrics?.rejected("connections"),
    isTls: settings.tls !== undefined,
  });
  const begin = (): Promise<void> =>
    socket === undefined ? listen(server, host, port) : listenOn(server, socket.descriptor);
  const listened = await listening(begin, host, port);
  if (!listened.ok) return listened;
  const balance = openBalance(server, settings, connections);
  return ok({
    host,
    port: portOf(server),
    get connectionCount() {
      return connections.count;
    },
    close: () => {
      balance?.stop();
      handshakes.cut();
      connections.cutSilent();
      return app.close();
    },
  });
}

interface App {
  readonly server: Server;
  /** Answers what arrived completely, within CLOSING_LIMIT_MS. */
  close(): Promise<void>;
}

function createApp(settings: HttpSettings, parts: HttpParts): App {
  const pipelines = new Pipelines(parts.logger);
  const isAdmitted = createGuard(settings, parts, pipelines);
  const answer = createRoutes(settings, parts, pipelines);
  let isClosing = false;
  const server = createServer(settings, (request, response) => {
    if (isClosing) response.setHeader("Connection", "close");
    if (isAdmitted(request, response)) answer(request, response);
  });
  server.on("clientError", (error, socket) => answerBrokenRequest(error, socket as Socket, parts.logger));
  return {
    server,
    async close() {
      isClosing = true;
      // Otherwise the close would wait for connections that are idle after their last answer.
      server.keepAliveTimeout = 1;
      const cut = setTimeout(() => server.closeAllConnections(), CLOSING_LIMIT_MS);
      await new Promise((resolve) => server.close(resolve));
      clearTimeout(cut);
    },
  };
}

function createServer(
  { arrivalTimes = ARRIVAL_TIMES, timeoutMs, tls }: HttpSettings,
  answer: Answer,
): Server {
  const options = {
    requireHostHeader: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: ARRIVAL_LIMIT_MS,
    headersTimeout: arrivalTimes.headersMs,
    connectionsCheckingInterval: arrivalTimes.checkMs,
  };
  const server =
    tls === undefined
      ? createHttpServer(options, answer)
      : createHttpsServer({ ...options, ...serverOptions(tls()) }, answer);
  server.setTimeout(timeoutMs + STUCK_READER_MS);
  return server;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

function createRoutes(settings: HttpSettings, parts: HttpParts, pipelines: Pipelines): Answer {
  const foreignRule = remade(
    () => settings.access?.() ?? settings,
    ({ trustedOrigins, allowedHosts }) => createForeignRule(trustedOrigins, allowedHosts),
  );
  const isForeign: ForeignRule = (headers) => foreignRule()(headers);
  const answerRpc = createHttpRequestHandler({ ...settings, isForeign }, { ...parts, pipelines });
  const logIn = createLoginHandler(parts);

  return (request, response) => {
    switch (`${request.method} ${routedPath(request)}`) {
      case "POST /":
        return answerRpc(request, response);
      case "GET /":
        return respondUntyped(response, 201, "");
      case "GET /liveness":
        return respondHealth(response, []);
      case "GET /readiness":
        return void onceKnown(parts.readiness(queryOf(request)), (known) => respondHealth(response, known));
      case "POST /login":
        return logIn(request, response);
      default:
        return answerUnrouted(request, response);
    }
  };
}

/**
 * The path that routes are compared with: without query and fragment, decoded, and without the host that proxies' requests
 * name before it. Undefined when it cannot be decoded.
 */
function routedPath({ url = "/" }: IncomingMessage): string | undefined {
  const [path = ""] = url.replace(/^https?:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  if (!path.includes("%")) return path === "" ? "/" : path;
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}

const ALLOWED_METHODS: ReadonlyMap<string, string> = new Map([
  ["/", "POST,GET"],
  ["/liveness", "GET"],
  ["/readiness", "GET"],
  ["/login", "POST"],
]);

const HEALTH_PATHS: ReadonlySet<string> = new Set(["/liveness", "/readiness"]);

function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? url;
}

function answerUnrouted(request: IncomingMessage, response: ServerResponse): void {
  const allowed = ALLOWED_METHODS.get(pathOf(request));
  if (allowed === undefined) respondNotFound(response);
  else respondNotAllowed(response, allowed);
}

function queryOf({ url = "/" }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(url.split("?")[1] ?? "");
}

/** Answers refused requests and preflights itself; returns true for all others, which go to a route. */
function createGuard(
  settings: HttpSettings,
  { metrics, logger, gate }: Pick<HttpParts, "metrics" | "logger" | "gate">,
  pipelines: Pipelines,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const rules = remade(
    () => settings.access?.() ?? settings,
    ({ allowedHosts, corsOrigins }) => ({
      checkHost: createHostAllowlist(allowedHosts),
      isAllowedOrigin: createOriginRule(corsOrigins),
    }),
  );
  // Browsers do not take the star for the header of tokens.
  const allowedHeaders = gate === undefined ? "*,content-type" : "*,content-type,authorization";
  const logHostRefusal = createHostRefusalLog(logger);

  return (request, response) => {
    response.sendDate = false;
    if (!pipelines.admits(request, response)) return false;
    const { headers } = request;
    const { checkHost, isAllowedOrigin } = rules();
    const hostCheck = checkHost(headers.host);
    if (hostCheck !== "allowed") {
      metrics?.rejected("host");
      logHostRefusal(request);
      if (HEALTH_PATHS.has(pathOf(request))) respondProbeRefused(response, hostCheck, headers.host);
      else respondHostRefused(response, hostCheck);
      return false;
    }
    const { origin } = headers;
    if (origin === undefined) return true;
    if (!isAllowedOrigin(origin)) {
      metrics?.rejected("origin");
      logRefusal(logger, "origin not allowed", request.socket.remoteAddress);
      respondRefusal(response, 403, "Exception thrown handling RPC");
      return false;
    }
    response.setHeader("Access-Control-Allow-Origin", origin);
    if (request.method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return true;
    response.writeHead(204, { "Access-Control-Allow-Headers": allowedHeaders });
    response.end();
    return false;
  };
}

function respondHealth(response: ServerResponse, objections: Objections): void {
  respondUntyped(response, objections.length === 0 ? 200 : 503, healthBody(objections));
}
