import type { IncomingMessage, ServerResponse } from "node:http";
import { onceKnown } from "../../primitives/eventual.ts";
import { type Gate, tokenOf } from "../access/gate.ts";
import type { Grant } from "../access/grant.ts";
import type { Dispatcher } from "../dispatcher.ts";
import type { Caller } from "../endpoint.ts";
import { ERRORS } from "../errors/errors.ts";
import { isObject } from "../parameters/parameters.ts";
import { errorReply } from "../reply.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import { acceptsJson } from "./accept.ts";
import type { ForeignRule } from "./foreignPages.ts";
import { type HttpAnswerParts, type HttpAnswerSettings, HttpAnswers } from "./httpAnswers.ts";
import { readBody } from "./httpBody.ts";
import { respondJson, respondUntyped } from "./httpResponse.ts";
import type { MessageReader } from "./messageReader.ts";
import { TOO_MANY_PARTS } from "./parseMessage.ts";
import type { Pipelines } from "./pipelines.ts";
import { logRefusal } from "./refusalLog.ts";
import { connectionHost, type HostRule } from "./remoteHost.ts";

export interface HttpRequestSettings extends HttpAnswerSettings {
  readonly maxBodyBytes: number;
  /** Most requests in a batch; undefined for no limit. */
  readonly maxBatchSize: number | undefined;
  /** Time to answer; then the client gets 504 and the connection is closed. */
  readonly timeoutMs: number;
}

export interface HttpRequestParts extends HttpAnswerParts {
  readonly dispatcher: Dispatcher;
  readonly reader: MessageReader;
  readonly pipelines: Pipelines;
  /** Recognizes requests of foreign pages. */
  readonly isForeign: ForeignRule;
  /** Absent where everybody may call. */
  readonly gate?: Gate | undefined;
  readonly metrics?: RpcMetrics | undefined;
  /** Names a request's remote host; connectionHost if not given. */
  readonly hostOf?: HostRule;
}

/**
 * Answers JSON-RPC over HTTP: the route POST /, after the checks of host and origin (json-rpc-errors.md#http).
 */
export function createHttpRequestHandler(
  settings: HttpRequestSettings,
  parts: HttpRequestParts,
): (request: IncomingMessage, response: ServerResponse) => void {
  const handler = new HttpRequestHandler(settings, parts);
  return (request, response) => handler.handle(request, response);
}

class HttpRequestHandler {
  private readonly settings: HttpRequestSettings;
  private readonly parts: HttpRequestParts;
  private readonly answers: HttpAnswers;

  constructor(settings: HttpRequestSettings, parts: HttpRequestParts) {
    this.settings = settings;
    this.parts = parts;
    this.answers = new HttpAnswers(settings, parts);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { gate } = this.parts;
    const token = gate === undefined ? undefined : tokenOf(request);
    if (gate?.needsToken === true && token === undefined) {
      this.refuseAnonymous(request, response);
      return;
    }
    readBody(request, this.settings.maxBodyBytes, (body) => {
      try {
        const grant = gate?.grant(token, request.socket.remoteAddress);
        const known = onceKnown(grant, (granted) => this.onBody(request, response, { body, grant: granted }));
        if (known instanceof Promise) known.catch((error: unknown) => this.breakOff(response, error));
      } catch (error) {
        this.breakOff(response, error);
      }
    });
  }

  /** Refuses a request without reading it, because its body would be in memory. */
  private refuseAnonymous(request: IncomingMessage, response: ServerResponse): void {
    if (!acceptsJson(request.headers.accept)) {
      this.logRefusal("JSON not accepted", request);
      respondUntyped(response, 406, "");
      return;
    }
    this.parts.metrics?.rejected("token");
    this.logRefusal("no token", request);
    respondUntyped(response, 401, errorReply("null", ERRORS.unauthorized).text);
  }

  private onBody(
    request: IncomingMessage,
    response: ServerResponse,
    { body, grant }: { readonly body: string | undefined; readonly grant: Grant | undefined },
  ): void {
    if (body === undefined) {
      this.parts.metrics?.rejected("body");
      this.logRefusal("body too large", request);
      respondUntyped(response, 413, "Request Entity Too Large");
      return;
    }
    if (!acceptsJson(request.headers.accept)) {
      this.logRefusal("JSON not accepted", request);
      respondUntyped(response, 406, "");
      return;
    }
    const isForeignPage = this.parts.isForeign(request.headers);
    const caller = new HttpCaller(request, response, { isForeignPage, grant }, this.parts.hostOf);
    this.parts.pipelines.whenFirst(response, () => this.begin(body, caller, response));
  }

  private begin(body: string, caller: Caller, response: ServerResponse): void {
    const { callerTime } = this.answers;
    const { remoteHost } = caller;
    const read = (): void => this.read(body, caller, response);
    if (callerTime.isFree(remoteHost)) callerTime.now(remoteHost, read);
    else callerTime.inTurn(remoteHost, read).catch((error: unknown) => this.breakOff(response, error));
  }

  private read(body: string, caller: Caller, response: ServerResponse): void {
    if (caller.isAbandoned()) return;
    const reading = this.parts.reader.read(body, caller, (value) =>
      this.onValue(value, body, caller, response),
    );
    if (reading === "busy") {
      this.logRefusal("too much is waiting to be read", response.req);
      respondJson(response, 200, errorReply("null", ERRORS.tooManyCalls).text);
    } else reading?.catch((error: unknown) => this.breakOff(response, error));
  }

  private onValue(value: unknown, body: string, caller: Caller, response: ServerResponse): void {
    if (Array.isArray(value)) this.onBatch(value, body, caller, response);
    else if (isObject(value)) this.onSingle(value, body, caller, response);
    else if (value === TOO_MANY_PARTS) {
      this.logRefusal("too many parts", response.req);
      respondJson(response, 200, errorReply("null", ERRORS.messageTooLarge).text);
    } else {
      this.logRefusal("not a JSON object", response.req);
      respondUntyped(response, 400, errorReply("null", ERRORS.parseError).text);
    }
  }

  private onSingle(value: object, body: string, caller: Caller, response: ServerResponse): void {
    const { answers } = this;
    const reply = this.parts.dispatcher.answerRequest(value, body, caller);
    if (reply instanceof Promise)
      this.withTimeout(response, async () => answers.respondSlowly(response, await reply, caller));
    else if (reply !== undefined && answers.isLarge(reply))
      this.withTimeout(response, () => answers.respondSlowly(response, reply, caller));
    else answers.respond(response, reply);
  }

  private onBatch(values: readonly unknown[], body: string, caller: Caller, response: ServerResponse): void {
    const { maxBatchSize } = this.settings;
    if (values.length === 0) {
      this.logRefusal("empty batch", response.req);
      respondUntyped(response, 400, errorReply("null", ERRORS.invalidRequest).text);
      return;
    }
    if (maxBatchSize !== undefined && values.length > maxBatchSize) {
      this.parts.metrics?.rejected("batch");
      this.logRefusal("batch too large", response.req);
      respondJson(response, 200, errorReply("null", ERRORS.batchTooLarge).text);
      return;
    }
    this.withTimeout(response, () =>
      this.answers.respondBatch(response, caller, (write, onInFlight) =>
        this.parts.dispatcher.answerBatch(values, body, caller, write, onInFlight),
      ),
    );
  }

  /** Runs slow work. After `timeoutMs` the client gets 504, or the connection is cut when parts were already sent. */
  private withTimeout(response: ServerResponse, work: () => Promise<void>): void {
    const timer = setTimeout(() => {
      this.parts.metrics?.rejected("timeout");
      this.logRefusal("not answered in time", response.req);
      if (response.headersSent) {
        response.destroy();
      } else {
        response.shouldKeepAlive = false;
        respondUntyped(response, 504, "");
      }
    }, this.settings.timeoutMs);
    work()
      .catch((error: unknown) => this.breakOff(response, error))
      .finally(() => clearTimeout(timer));
  }

  private logRefusal(reason: string, { socket }: IncomingMessage): void {
    logRefusal(this.parts.logger, reason, socket.remoteAddress);
  }

  /** Handles a bug of the node: only the connection of this request is ended. */
  private breakOff(response: ServerResponse, error: unknown): void {
    this.parts.logger.error({ error }, "HTTP request failed");
    response.destroy();
  }
}

/** Who sent a request over HTTP. */
export class HttpCaller implements Caller {
  readonly connection = undefined;
  readonly isForeignPage: boolean;
  readonly grant: Grant | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #hostOf: HostRule;
  #remoteHost: string | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { isForeignPage, grant }: Pick<Caller, "isForeignPage" | "grant">,
    hostOf: HostRule = connectionHost,
  ) {
    this.isForeignPage = isForeignPage;
    this.grant = grant;
    this.#request = request;
    this.#response = response;
    this.#hostOf = hostOf;
  }

  /** Computed on first use, because few requests need it; kept after the connection has closed. */
  get remoteHost(): string {
    this.#remoteHost ??= this.#hostOf(this.#request);
    return this.#remoteHost;
  }

  /** The connection, so that pipelined requests share one turn among all clients. */
  get client(): object {
    return this.#request.socket;
  }

  isAbandoned(): boolean {
    return this.#request.socket.destroyed || this.#response.writableEnded;
  }
}
