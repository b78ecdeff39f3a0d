import type { Logger } from "../observability/logger.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import { EventLoopSlice } from "../primitives/eventLoopSlice.ts";
import { type JsonPiece, joinPieces } from "../primitives/jsonPieces.ts";
import { onceKnown } from "../primitives/onceKnown.ts";
import type { Requester } from "../primitives/requester.ts";
import { ERRORS, RpcError } from "./errors/errors.ts";
import { InFlightReplies } from "./inFlightReplies.ts";
import { KNOWN_METHODS } from "./knownMethods.ts";
import {
  type Answer,
  type CallContext,
  type Connection,
  JsonPieces,
  type MethodDescription,
  type Namespace,
  OPERATOR_NAMESPACES,
  RawJson,
  type RpcMethod,
} from "./method.ts";
import { type Call, type Params, readRequest } from "./request.ts";
import type { RpcMetrics } from "./rpcMetrics.ts";
import { SourceIds } from "./sourceIds.ts";

/**
 * Turns a parsed message into the text of its answer, the same for every server.
 *
 *   server/http.ts      ┐  parsed JSON             ┌ readRequest: id, name, params    (request.ts)
 *   server/websocket.ts ┘ ───────────> dispatcher ─┤ find the method, decode params   (method.ts)
 *                         <─────────── text, error └ run, encode the answer           (methods/**)
 *
 * Invariants: every call gets exactly one answer with its own id; a notification gets none and is not executed; an
 * exception in a method is logged and becomes -32603; a method that answers synchronously costs no promise. The servers
 * handle limits, sockets and the differences between HTTP and WebSocket.
 */
export interface Dispatcher {
  /** Answers a single request, passed as a value and as the text it was parsed from; undefined for a notification. */
  answerRequest(request: unknown, json: string, caller: Caller): Reply | undefined | Promise<Reply>;
  /**
   * Answers the requests of a batch in order, as the text of a list. Pieces of BATCH_PIECE_LENGTH or more are passed to
   * `write` along the way, which may return a promise to wait for; the rest is returned. `onInFlight` is called with the
   * total size of the large replies not yet written, in characters or bytes, whenever it changes.
   */
  answerBatch(
    requests: readonly unknown[],
    json: string,
    caller: Caller,
    write: (piece: JsonPiece) => void | Promise<void>,
    onInFlight?: (length: number) => void,
  ): Promise<string>;
}

export interface Reply {
  readonly text: string;
  /** The text in pieces, when it is very large: only callers that need one string join them. */
  readonly pieces?: readonly JsonPiece[];
  /** The error inside the text, from which HTTP derives its status. */
  readonly error: RpcError | undefined;
}

/** The sender of a request. */
export interface Caller extends Requester {
  readonly connection: Connection | undefined;
  /** The caller is a web page of a foreign origin, for which methods that change the node count as not enabled. */
  readonly isForeignPage: boolean;
}

export interface DispatcherSettings<Backend> {
  readonly methods: readonly RpcMethod<Backend>[];
  /** Modules that the operator enabled for this endpoint. */
  readonly modules: ReadonlySet<Namespace>;
}

export interface DispatcherParts<Backend> {
  readonly backend: Backend;
  readonly logger: Logger;
  /** When absent, nothing is counted. */
  readonly metrics?: RpcMetrics | undefined;
}

/** Characters of a batch's answer that are collected before they are written. */
export const BATCH_PIECE_LENGTH = 256 * 1024;
/** Answers of at least this many characters are not joined with the text around them. */
const LARGE_LENGTH = 1024 * 1024;
/** Characters of a caller's id that the log shows. */
const LOGGED_ID_LENGTH = 80;
/** Neighbours in a batch that may run, or wait to be written, at one time. */
const OVERLAP_LIMITS = { few: 8, many: 256 };

export function createDispatcher<Backend>(
  { methods, modules }: DispatcherSettings<Backend>,
  parts: DispatcherParts<Backend>,
): Dispatcher {
  const { backend, logger, metrics } = parts;
  const fullEndpoint = createEndpoint(methods, modules, backend);
  const restrictedEndpoint = createEndpoint(
    methods.filter(({ isGuarded }) => isGuarded !== true),
    new Set([...modules].filter((module) => !OPERATOR_NAMESPACES.has(module))),
    backend,
  );

  function endpointFor({ isForeignPage }: Caller): Endpoint<Backend> {
    return isForeignPage ? restrictedEndpoint : fullEndpoint;
  }

  function execute(call: Call, context: BoundContext<Backend>): Answer | Promise<Answer> {
    const { method: name } = call;
    const method = context.offered.get(name);
    if (method === undefined) return unavailable(name);
    if (metrics === undefined) return perform(method, call, context);
    const startedAtSeconds = metrics.stopwatchSeconds();
    const answer = perform(method, call, context);
    return onceKnown(answer, (value) => {
      metrics.answered(name, startedAtSeconds, value);
      return value;
    });
  }

  function unavailable(name: string): RpcError {
    const isKnown = KNOWN_METHODS.has(name);
    const error = isKnown ? ERRORS.methodNotEnabled : ERRORS.methodNotFound;
    metrics?.unavailable(isKnown ? name : undefined, error);
    return error;
  }

  function perform(
    method: RpcMethod<Backend>,
    { method: name, idText, params }: Call,
    context: CallContext<Backend>,
  ): Answer | Promise<Answer> {
    try {
      const values = decodeParams(method, params);
      if (values instanceof RpcError) return values;
      const answer = method.run(values, context);
      return answer instanceof Promise
        ? answer.catch((error: unknown) => failed(name, idText, error))
        : answer;
    } catch (error) {
      return failed(name, idText, error);
    }
  }

  function failed(method: string, idText: string, error: unknown): RpcError {
    logger.error({ method, id: idText.slice(0, LOGGED_ID_LENGTH), error }, "JSON-RPC method failed");
    return ERRORS.internalError;
  }

  function reply(method: string, idText: string, answer: Answer): Reply {
    if (answer instanceof RpcError) return errorReply(idText, answer);
    if (answer instanceof JsonPieces) return inPieces(idText, answer.pieces);
    if (answer instanceof RawJson && answer.text.length >= LARGE_LENGTH)
      return inPieces(idText, [answer.text]);
    try {
      return { text: `{"jsonrpc":"2.0","id":${idText},"result":${resultJson(answer)}}`, error: undefined };
    } catch (error) {
      return errorReply(idText, failed(method, idText, error));
    }
  }

  function answerOne(
    value: unknown,
    sourceIds: SourceIds,
    index: number,
    context: BoundContext<Backend>,
    inFlight?: InFlightReplies,
  ): Answering {
    const request = readRequest(value, sourceIds, index);
    if (request.kind === "notification") return undefined;
    if (request.kind === "invalid") return errorReply(request.idText, ERRORS.invalidRequest);
    const { method, idText } = request;
    return onceKnown(execute(request, context), (answer) => {
      const encoded = reply(method, idText, answer);
      return inFlight === undefined ? encoded : inFlight.add(encoded);
    });
  }

  /** How many neighbouring requests for the same method as this one may run at one time in a batch. */
  function overlapLimit(request: unknown): number {
    const overlap = fullEndpoint.offered.get(nameOf(request))?.mayOverlap;
    return overlap === undefined ? 1 : OVERLAP_LIMITS[overlap];
  }

  return {
    answerRequest(request, json, caller) {
      const sourceIds = new SourceIds(json, "single");
      return answerOne(request, sourceIds, 0, new BoundContext(endpointFor(caller), caller));
    },
    async answerBatch(requests, json, caller, write, onInFlight = () => undefined) {
      const sourceIds = new SourceIds(json, "batch");
      const context = new BoundContext(endpointFor(caller), caller);
      const inFlight = new InFlightReplies(onInFlight);
      const begin = (index: number) => answerOne(requests[index], sourceIds, index, context, inFlight);
      /** Answers of the next requests, which have been started together with the current one. */
      const ahead: Answering[] = [];
      let piece = "[";
      let isFirst = true;
      const slice = new EventLoopSlice();
      for (let index = 0; index < requests.length && !caller.isAbandoned(); index++) {
        const request = requests[index];
        const limit = overlapLimit(request);
        const each = ahead.length > 0 ? ahead.shift() : begin(index);
        for (let next = index + 1 + ahead.length; ahead.length + 1 < limit && !inFlight.isFull; next++) {
          if (nameOf(requests[next]) !== nameOf(request)) break;
          ahead.push(begin(next));
        }
        const reply = each instanceof Promise ? await each : each;
        if (reply !== undefined) {
          if (!isFirst) piece += ",";
          isFirst = false;
          for (const part of reply.pieces ?? [reply.text]) {
            if (typeof part === "string") {
              piece += part;
              if (piece.length < BATCH_PIECE_LENGTH) continue;
            }
            if (piece !== "") await write(piece);
            piece = "";
            if (typeof part !== "string") await write(part);
          }
          inFlight.remove(reply);
        }
        if (slice.isOver) await slice.yield();
      }
      return `${piece}]`;
    },
  };
}

/** The methods that a caller can use. */
interface Endpoint<Backend> extends Pick<CallContext<Backend>, "backend" | "modules" | "methods"> {
  /** Methods by name and by alias. */
  readonly offered: ReadonlyMap<string, RpcMethod<Backend>>;
}

function createEndpoint<Backend>(
  all: readonly RpcMethod<Backend>[],
  modules: ReadonlySet<Namespace>,
  backend: Backend,
): Endpoint<Backend> {
  const methods = all.filter((method) => isOffered(method, modules));
  const offered = new Map<string, RpcMethod<Backend>>();
  for (const method of methods) {
    for (const name of [method.name, ...(method.aliases ?? [])]) {
      assert(!offered.has(name), `two methods are called ${name}`);
      offered.set(name, method);
    }
  }
  return { backend, modules, methods, offered };
}

type Answering = Reply | undefined | Promise<Reply>;

function inPieces(idText: string, result: readonly JsonPiece[]): Reply {
  const pieces = [`{"jsonrpc":"2.0","id":${idText},"result":`, ...result, "}"];
  return {
    pieces,
    get text() {
      return joinPieces(pieces);
    },
    error: undefined,
  };
}

/** A JSON-RPC error response, as text. */
export function errorReply(idText: string, error: RpcError): Reply {
  const { code, message, data } = error;
  return {
    text: `{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify({ code, message, data })}}`,
    error,
  };
}

class BoundContext<Backend> implements CallContext<Backend> {
  readonly backend: Backend;
  readonly modules: ReadonlySet<Namespace>;
  readonly methods: readonly MethodDescription[];
  readonly offered: ReadonlyMap<string, RpcMethod<Backend>>;
  readonly #caller: Caller;

  constructor({ backend, modules, methods, offered }: Endpoint<Backend>, caller: Caller) {
    this.backend = backend;
    this.modules = modules;
    this.methods = methods;
    this.offered = offered;
    this.#caller = caller;
  }

  get connection(): Connection | undefined {
    return this.#caller.connection;
  }

  get remoteHost(): string {
    return this.#caller.remoteHost;
  }

  get client(): object {
    return this.#caller.client;
  }

  isAbandoned(): boolean {
    return this.#caller.isAbandoned();
  }
}

/** Whether an endpoint with these modules has the method. */
function isOffered(
  { namespace, alsoIn = [] }: Pick<RpcMethod, "namespace" | "alsoIn">,
  modules: ReadonlySet<Namespace>,
): boolean {
  return namespace === "EVERY" || modules.has(namespace) || alsoIn.some((other) => modules.has(other));
}

/** Values of the declared parameters, or the error for those that cannot be decoded. */
function decodeParams<Backend>(
  { parameters, exactParams }: RpcMethod<Backend>,
  params: Params,
): readonly unknown[] | RpcError {
  if (exactParams !== undefined && params.length !== exactParams) return ERRORS.invalidParams;
  if (parameters.length === 0) return NO_VALUES;
  const values: unknown[] = [];
  for (let index = 0; index < parameters.length; index++) {
    const { decode, isRequired, isRest, explain } = expectDefined(parameters[index], "a parameter");
    const given = isRest === true ? params.slice(index) : params[index];
    const isAbsent = given === undefined || given === null;
    const value = isAbsent ? undefined : decode(given);
    if (value === undefined && (isRequired || !isAbsent)) return explain?.(given) ?? ERRORS.invalidParams;
    values.push(value);
  }
  return values;
}

const NO_VALUES: readonly unknown[] = [];

function resultJson(answer: Answer): string {
  if (answer instanceof RawJson) return answer.text;
  const text = JSON.stringify(answer);
  assert(text !== undefined, "a method must answer with something");
  return text;
}

function nameOf(request: unknown): string {
  if (typeof request !== "object" || request === null || !("method" in request)) return "";
  return typeof request.method === "string" ? request.method : "";
}
