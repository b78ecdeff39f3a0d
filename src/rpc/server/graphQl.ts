import type { IncomingMessage, ServerResponse } from "node:http";
import type { Requester } from "../../primitives/requester.ts";
import type { Result } from "../../primitives/result.ts";
import { GRAPHQL } from "../access/grant.ts";
import { createLoginHandler } from "../access/loginRequests.ts";
import { ERRORS, type RpcError } from "../errors/errors.ts";
import type { GraphQlAnswer, GraphQlRequest } from "../graphql/request.ts";
import { prettyJson } from "../results/prettyJson.ts";
import { createOriginGuard } from "./crossOrigin.ts";
import {
  isJsonBody,
  readGraphQlJson,
  readGraphQlQuery,
  readGraphQlText,
  targetOf,
} from "./graphQlRequest.ts";
import type { HostCheck } from "./hostAllowlist.ts";
import { respondHostRefused } from "./hostRefusal.ts";
import { type HttpAnswerParts, HttpAnswers } from "./httpAnswers.ts";
import { type HttpCaller, HttpIntake, type IntakeParts, type IntakeSettings } from "./httpIntake.ts";
import { respondJson, respondNotAllowed, respondNotFound, respondUntyped } from "./httpResponse.ts";
import { KEEP_ALIVE_MS, STUCK_READER_MS } from "./limits.ts";
import { Listener, type ListenerParts, type PortSettings } from "./listener.ts";
import type { MessageReader } from "./messageReader.ts";
import type { RpcServer, ServerErrorCode } from "./server.ts";

/**
 * GraphQL over HTTP, as Besu's service (graphql.md#http).
 *
 *   listener.ts ─> origin ─403, 204─> route ┬ GET, POST /graphql   httpIntake.ts ─> graphQlRequest.ts ─> what answers
 *                                           ├ GET, POST /          308 to /graphql
 *                                           └ POST /login with users, else 404, 405
 *
 * What answers is handed in (graphql/answerGraphQl.ts); it is told by a signal when nobody waits for the answer any more.
 */
export interface GraphQlSettings extends PortSettings, IntakeSettings {
  /** ["*"] for any origin, [] for none, else patterns that are joined into one regular expression; see createOriginRule. */
  readonly corsOrigins: readonly string[];
}

export interface GraphQlParts
  extends HttpAnswerParts,
    Omit<IntakeParts, "pipelines" | "isForeign">,
    ListenerParts {
  /** The settings of now, of which lists of hosts and origins are asked for each request; those of the start if not given. */
  readonly current?: (() => GraphQlSettings) | undefined;
  readonly reader: MessageReader;
  /**
   * Answers a request. The signal ends the work for a client that left, or whose time is over. `onInFlight` is called with about
   * the bytes that the answer takes while it is made.
   */
  answer(
    request: GraphQlRequest,
    caller: Requester,
    signal: AbortSignal,
    onInFlight: (bytes: number) => void,
  ): Promise<GraphQlAnswer>;
}

export async function openGraphQlServer(
  settings: GraphQlSettings,
  parts: GraphQlParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const { logger, metrics, gate, current = () => settings } = parts;
  const listener = new Listener(
    {
      ...settings,
      limitOption: "--graphql-http-max-active-connections",
      keepAliveMs: KEEP_ALIVE_MS,
      idleMs: settings.timeoutMs + STUCK_READER_MS,
    },
    parts,
  );
  const handler = new GraphQlHandler(settings, {
    ...parts,
    // Nothing is answered without a token where there are any, whatever methods of JSON-RPC are.
    gate: gate && { ...gate, needsToken: true },
    pipelines: listener.pipelines,
    isForeign: () => false,
  });
  const isAdmitted = createOriginGuard({
    current,
    hasTokens: gate !== undefined,
    refusal: "CORS Rejected - Invalid origin",
    refusesUnnamed: true,
    logger,
    metrics,
  });
  const routes = new Map<string, Route>([
    ["/", { methods: ["POST", "GET"], answer: respondRedirect }],
    [
      "/graphql",
      { methods: ["POST", "GET"], answer: (request, response) => handler.handle(request, response) },
    ],
  ]);
  if (gate?.login !== undefined)
    routes.set("/login", { methods: ["POST"], answer: createLoginHandler({ ...parts, gate }) });
  listener.onRequest((request, response) => {
    if (isAdmitted(request, response)) answerRoute(routes, request, response);
  }, refuseHost);
  return listener.open();
}

function refuseHost(_request: IncomingMessage, response: ServerResponse, check: HostCheck): void {
  respondHostRefused(response, check);
}

interface Route {
  readonly methods: readonly string[];
  answer(request: IncomingMessage, response: ServerResponse): void;
}

function answerRoute(
  routes: ReadonlyMap<string, Route>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { method = "" } = request;
  const { path } = targetOf(request);
  const route = routes.get(path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path);
  if (route?.methods.includes(method) === true) route.answer(request, response);
  else if (method === "HEAD") respondUntyped(response, route === undefined ? 404 : 405, "");
  else if (route === undefined) respondNotFound(response);
  else respondNotAllowed(response, route.methods.join(","));
}

function respondRedirect(_request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("Location", "/graphql");
  respondUntyped(response, 308, "");
}

class GraphQlHandler {
  private readonly parts: GraphQlParts;
  private readonly answers: HttpAnswers;
  private readonly intake: HttpIntake;

  constructor(settings: GraphQlSettings, parts: GraphQlParts & IntakeParts) {
    this.parts = parts;
    // Answers are pretty-printed where they are made.
    this.answers = new HttpAnswers({ isPrettyPrinted: false }, parts);
    this.intake = new HttpIntake(settings, parts, this.answers.callerTime, respondUnauthorized);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.intake.take(request, response, (body, caller) => {
      if (caller.grant?.allows(GRAPHQL) !== false) this.read(request, response, body, caller);
      else {
        this.parts.metrics?.rejected("permission");
        this.intake.logRefusal("token without permission", request);
        respondUnauthorized(response);
      }
    });
  }

  private read(request: IncomingMessage, response: ServerResponse, body: string, caller: HttpCaller): void {
    if (request.method === "GET") this.begin(readGraphQlQuery(request), response, caller);
    else if (isJsonBody(request.headers)) this.readJson(response, body.trim(), caller);
    else this.begin(readGraphQlText(request.headers, body), response, caller);
  }

  private readJson(response: ServerResponse, body: string, caller: HttpCaller): void {
    const reading = this.parts.reader.read(body, caller, (value) =>
      this.begin(readGraphQlJson(value), response, caller),
    );
    if (reading === "busy") {
      this.intake.logRefusal("too much is waiting to be read", response.req);
      respondError(response, 429, ERRORS.tooManyCalls);
    } else reading?.catch((error: unknown) => this.intake.breakOff(response, error));
  }

  private begin(
    read: Result<GraphQlRequest, "undecodable">,
    response: ServerResponse,
    caller: HttpCaller,
  ): void {
    if (read.ok) this.intake.withTimeout(response, () => this.answer(read.value, response, caller));
    else {
      this.intake.logRefusal("not a GraphQL request", response.req);
      respondUntyped(response, 400, JSON.stringify({ result: `Failed to decode:${read.error.message}` }));
    }
  }

  private async answer(request: GraphQlRequest, response: ServerResponse, caller: HttpCaller): Promise<void> {
    const { metrics } = this.parts;
    const startedAtSeconds = metrics?.stopwatchSeconds();
    const ending = new AbortController();
    response.once("close", () => ending.abort());
    try {
      await this.answers.respondMade(response, caller, async (onInFlight) => {
        const {
          status,
          body,
          heldBytes = 0,
        } = await this.parts.answer(request, caller, ending.signal, onInFlight);
        if (startedAtSeconds !== undefined) metrics?.answered(METHOD_NAME, startedAtSeconds, null);
        return { status, type: JSON_TYPE, pieces: body, heldBytes };
      });
    } catch (error) {
      // Work that was ended may say so by an exception.
      if (!ending.signal.aborted) throw error;
    }
  }
}

/** Stands for the name of a method where requests are counted. */
const METHOD_NAME = "graphql";

const JSON_TYPE = "application/json; charset=utf-8";

function respondUnauthorized(response: ServerResponse): void {
  respondError(response, 401, ERRORS.unauthorized);
}

function respondError(
  response: ServerResponse,
  status: number,
  { code: errorCode, message: errorMessage }: RpcError,
): void {
  const errors = [{ message: errorMessage, extensions: { errorCode, errorMessage } }];
  respondJson(response, status, prettyJson(JSON.stringify({ errors })), JSON_TYPE);
}
