import type { IncomingMessage, ServerResponse } from "node:http";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { onceKnown } from "../../primitives/eventual.ts";
import type { Result } from "../../primitives/result.ts";
import { createLoginHandler } from "../access/loginRequests.ts";
import { memoized } from "../memoized.ts";
import { createOriginGuard } from "./crossOrigin.ts";
import { createForeignRule, type ForeignRule, type TrustSettings } from "./foreignPages.ts";
import { healthBody, type Objections } from "./health.ts";
import type { HostCheck } from "./hostAllowlist.ts";
import { respondHostRefused, respondProbeRefused } from "./hostRefusal.ts";
import { createHttpRequestHandler, type HttpRequestParts, type HttpRequestSettings } from "./httpRequests.ts";
import { respondNotAllowed, respondNotFound, respondUntyped } from "./httpResponse.ts";
import { KEEP_ALIVE_MS, STUCK_READER_MS } from "./limits.ts";
import { Listener, type ListenerParts, type PortSettings } from "./listener.ts";
import type { RpcServer, ServerErrorCode } from "./server.ts";

/**
 * JSON-RPC over HTTP (json-rpc-errors.md#http).
 *
 *   listener.ts ─> origin ─403, 204─> route ┬ POST /  httpRequests.ts
 *                                           ├ GET /, /liveness, /readiness
 *                                           └ POST /login (access/), else 404, 405
 *
 * Fastify only routes. Bodies are read and written here, because Besu accepts any content type and Fastify's own replies
 * carry other headers.
 */
export interface HttpSettings extends PortSettings, TrustSettings, HttpRequestSettings {
  /** ["*"] for any origin, [] for none, else patterns that are joined into one regular expression; see createOriginRule. */
  readonly corsOrigins: readonly string[];
}

export interface HttpParts extends Omit<HttpRequestParts, "pipelines" | "isForeign">, ListenerParts {
  /** The settings of now, of which lists of hosts and origins are asked for each request; those of the start if not given. */
  readonly current?: (() => HttpSettings) | undefined;
  /** What is objected to the node being ready, for the query of the request. */
  readonly readiness: (query: URLSearchParams) => Objections | Promise<Objections>;
}

export async function openHttpServer(
  settings: HttpSettings,
  parts: HttpParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const listener = new Listener(
    {
      ...settings,
      limitOption: "--rpc-http-max-active-connections",
      keepAliveMs: KEEP_ALIVE_MS,
      idleMs: settings.timeoutMs + STUCK_READER_MS,
    },
    parts,
  );
  const app = createApp(settings, { ...parts, pipelines: listener.pipelines });
  await app.ready();
  listener.onRequest((request, response) => app.routing(request, response), refuseHost);
  return listener.open();
}

function refuseHost(request: IncomingMessage, response: ServerResponse, check: HostCheck): void {
  if (HEALTH_PATHS.has(pathOf(request))) respondProbeRefused(response, check, request.headers.host);
  else respondHostRefused(response, check);
}

/** No route has a schema. Leaving out the default compilers, which take a tenth of a second to load, shortens the start. */
const NO_SCHEMAS = {
  buildValidator: () => refuseSchema,
  buildSerializer: () => refuseSchema,
};

function refuseSchema(): never {
  throw new Error("routes have no schemas here");
}

/** Routes requests; it never listens. */
function createApp(
  settings: HttpSettings,
  parts: Omit<HttpRequestParts, "isForeign"> & HttpParts,
): FastifyInstance {
  const { current = () => settings, gate, logger, metrics } = parts;
  const isAdmitted = createOriginGuard({
    current,
    hasTokens: gate !== undefined,
    refusal: "Exception thrown handling RPC",
    logger,
    metrics,
  });
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    schemaController: { compilersFactory: NO_SCHEMAS },
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
  const foreignRule = memoized(current, createForeignRule);
  const isForeign: ForeignRule = (headers) => foreignRule()(headers);
  app.post("/", handledBy(createHttpRequestHandler(settings, { ...parts, isForeign })));
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

function respondHealth(response: ServerResponse, objections: Objections): void {
  respondUntyped(response, objections.length === 0 ? 200 : 503, healthBody(objections));
}
