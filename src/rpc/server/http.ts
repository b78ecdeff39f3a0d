import type { IncomingMessage, ServerResponse } from "node:http";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { onceKnown } from "../../primitives/eventual.ts";
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
 * Fastify only routes. Bodies are read and written here, because Besu accepts any content type and Fastify's own replies
 * carry other headers.
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
  const handshakes = guardServer(app.server, settings, parts);
  const connections = limitConnections(app.server, settings, {
    option: "--rpc-http-max-active-connections",
    logger: parts.logger,
    onRefused: () => parts.metrics?.rejected("connections"),
    isTls: settings.tls !== undefined,
  });
  const begin = async (): Promise<unknown> => {
    if (socket === undefined) return app.listen({ host, port });
    await app.ready();
    return listenOn(app.server, socket.descriptor);
  };
  const listened = await listening(begin, host, port);
  if (!listened.ok) return listened;
  const balance = openBalance(app.server, settings, connections);
  return ok({
    host,
    port: portOf(app.server),
    get connectionCount() {
      return connections.count;
    },
    close: () => {
      balance?.stop();
      handshakes.cut();
      connections.cutSilent();
      return closeApp(app);
    },
  });
}

/** No route has a schema. Leaving out the default compilers, which take a tenth of a second to load, shortens the start. */
const NO_SCHEMAS = {
  buildValidator: () => refuseSchema,
  buildSerializer: () => refuseSchema,
};

function refuseSchema(): never {
  throw new Error("routes have no schemas here");
}

function createApp(settings: HttpSettings, parts: HttpParts): FastifyInstance {
  const { arrivalTimes = ARRIVAL_TIMES, tls } = settings;
  const http = {
    requireHostHeader: false,
    headersTimeout: arrivalTimes.headersMs,
    connectionsCheckingInterval: arrivalTimes.checkMs,
  };
  const pipelines = new Pipelines(parts.logger);
  const isAdmitted = createGuard(settings, parts, pipelines);
  // The types of Fastify tell servers with TLS from others; the routes are the same.
  const app: FastifyInstance = fastify({
    logger: false,
    exposeHeadRoutes: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: ARRIVAL_LIMIT_MS,
    connectionTimeout: settings.timeoutMs + STUCK_READER_MS,
    return503OnClosing: false,
    ...(tls === undefined ? { http } : { https: { ...http, ...serverOptions(tls()) } }),
    schemaController: { compilersFactory: NO_SCHEMAS },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, parts.logger),
    frameworkErrors: (_error, { raw: request }, { raw: response }) => {
      if (isAdmitted(request, response)) respondNotFound(response);
    },
  });
  for (const method of METHODS_WITH_BODY)
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });

  app.addHook("onRequest", (request, reply, done) => {
    if (isAdmitted(request.raw, reply.raw)) done();
    else reply.hijack();
  });
  const foreignRule = remade(
    () => settings.access?.() ?? settings,
    ({ trustedOrigins, allowedHosts }) => createForeignRule(trustedOrigins, allowedHosts),
  );
  const isForeign: ForeignRule = (headers) => foreignRule()(headers);
  app.post("/", handledBy(createHttpRequestHandler({ ...settings, isForeign }, { ...parts, pipelines })));
  app.get(
    "/",
    handledBy((_request, response) => respondUntyped(response, 201, "")),
  );
  app.get(
    "/liveness",
    handledBy((_request, response) => respondHealth(response, [])),
  );
  app.get(
    "/readiness",
    handledBy((request, response) => {
      const objections = parts.readiness(queryOf(request));
      void onceKnown(objections, (known) => respondHealth(response, known));
    }),
  );
  app.post("/login", handledBy(createLoginHandler(parts)));
  app.setNotFoundHandler(handledBy(answerUnrouted));
  return app;
}

/** Methods whose bodies Fastify must not read. */
const METHODS_WITH_BODY = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

const ALLOWED_METHODS: ReadonlyMap<string, string> = new Map([
  ["/", "POST,GET"],
  ["/liveness", "GET"],
  ["/readiness", "GET"],
  ["/login", "POST"],
]);

function handledBy(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    reply.hijack();
    answer(request.raw, reply.raw);
  };
}

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

async function closeApp(app: FastifyInstance): Promise<void> {
  // Otherwise the close would wait for connections that are idle after their last answer.
  app.server.keepAliveTimeout = 1;
  const cut = setTimeout(() => app.server.closeAllConnections(), CLOSING_LIMIT_MS);
  await app.close();
  clearTimeout(cut);
}
