import type { Logger } from "../observability/logger.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import { EventLoopSlice } from "../primitives/eventLoopSlice.ts";
import { type JsonPiece, joinPieces } from "../primitives/jsonPieces.ts";
import { onceKnown } from "../primitives/promised.ts";
import type { Requester } from "../primitives/requester.ts";
import { ERRORS, RpcError } from "./errors/errors.ts";
import { InFlightReplies } from "./inFlightReplies.ts";
import { KNOWN_METHODS } from "./knownMethods.ts";
import {
  type Answer,
  type CallContext,
  type Connection,
  JsonPieces,
  type Namespace,
  OPERATOR_NAMESPACES,
  RawJson,
  type RpcMethod,
} from "./method.ts";
import { type Call, type Params, readRequest } from "./request.ts";
import type { RpcMetrics } from "./rpcMetrics.ts";
import { SourceIds } from "./sourceIds.ts";

/**
 * From a parsed message to the text of its answer, the same for every door.
 *
 *   server/http.ts      ┐  parsed JSON             ┌ readRequest: id, name, params    (request.ts)
 *   server/websocket.ts ┘ ───────────> dispatcher ─┤ find the method, decode params   (method.ts)
 *                         <─────────── text, error └ run, encode the answer           (methods/**)
 *
 * Invariants: every call gets exactly one answer with its own id; a notification gets none and is not executed; what
 * a method throws is logged and becomes -32603; a method that answers at once costs no promise. Limits, sockets and
 * what differs between HTTP and WebSocket is the doors' business.
 */
export interface Dispatcher {
  /** Answers a single request, given as a value and as the text it was parsed from; undefined for a notification. */
  answerRequest(request: unknown, json: string, caller: Caller): Reply | undefined | Promise<Reply>;
  /**
   * Answers the requests of a batch in their order, one after another, as the text of a list. Whatever is more than
   * BATCH_PIECE_LENGTH goes to `write` on the way, which may ask to wait; the rest is returned. `onHeld` is told what the
   * large replies take that are not yet written, in characters or bytes, whenever that changes.
   */
  answerBatch(
    requests: readonly unknown[],
    json: string,
    caller: Caller,
    write: (piece: JsonPiece) => void | Promise<void>,
    onHeld?: (length: number) => void,
  ): Promise<string>;
}

export interface Reply {
  readonly text: string;
  /** What makes up the text, where it is very large: making one text of it is left to those who must. */
  readonly pieces?: readonly JsonPiece[];
  /** The refusal inside the text, from which HTTP derives its status. */
  readonly error: RpcError | undefined;
}

/** Who asks. */
export interface Caller extends Requester {
  readonly connection: Connection | undefined;
  /** It is a web page of a foreign origin, for which what changes the node is as if it were not enabled. */
  readonly isForeignPage: boolean;
}

export interface DispatcherSettings<Backend> {
  readonly methods: readonly RpcMethod<Backend>[];
  /** The modules that the operator enabled for this endpoint. */
  readonly modules: ReadonlySet<Namespace>;
}

export interface DispatcherParts<Backend> {
  readonly backend: Backend;
  readonly logger: Logger;
  /** Absent: nothing is counted. */
  readonly metrics?: RpcMetrics | undefined;
}

/** Characters of a batch's answer that are gathered before they are handed on. */
export const BATCH_PIECE_LENGTH = 256 * 1024;
/** Characters from which on an answer is not joined with what is around it. */
const LARGE_LENGTH = 1024 * 1024;
/** Characters of a caller's id that the log shows. */
const LOGGED_ID_LENGTH = 80;
/** Neighbours in a batch that may be under way, or made and not yet written, at one time. */
const OVERLAP_LIMITS = { few: 8, many: 256 };

export function createDispatcher<Backend>(
  { methods, modules }: DispatcherSettings<Backend>,
  parts: DispatcherParts<Backend>,
): Dispatcher {
  const { backend, logger, metrics } = parts;
  const whole = createEndpoint(methods, modules, backend);
  const harmless = createEndpoint(
    methods.filter(({ isGuarded }) => isGuarded !== true),
    new Set([...modules].filter((module) => !OPERATOR_NAMESPACES.has(module))),
    backend,
  );

  function endpointFor({ isForeignPage }: Caller): Endpoint<Backend> {
    return isForeignPage ? harmless : whole;
  }

  function execute(call: Call, context: BoundContext<Backend>): Answer | Promise<Answer> {
    const { method: name } = call;
    const method = context.offered.get(name);
    if (method === undefined) return refuseName(name);
    if (metrics === undefined) return perform(method, call, context);
    const startedAtSeconds = metrics.stopwatchSeconds();
    const answer = perform(method, call, context);
    return onceKnown(answer, (value) => {
      metrics.answered(name, startedAtSeconds, value);
      return value;
    });
  }

  function refuseName(name: string): RpcError {
    const isKnown = KNOWN_METHODS.has(name);
    const refusal = isKnown ? ERRORS.methodNotEnabled : ERRORS.methodNotFound;
    metrics?.unavailable(isKnown ? name : undefined, refusal);
    return refusal;
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
    held?: InFlightReplies,
  ): Answering {
    const request = readRequest(value, sourceIds, index);
    if (request.kind === "notification") return undefined;
    if (request.kind === "invalid") return errorReply(request.idText, ERRORS.invalidRequest);
    const { method, idText } = request;
    return onceKnown(execute(request, context), (answer) => {
      const made = reply(method, idText, answer);
      return held === undefined ? made : held.add(made);
    });
  }

  /** How many requests like this one may be under way in a batch, if they are neighbours. */
  function overlapLimit(request: unknown): number {
    const overlap = whole.offered.get(nameOf(request))?.mayOverlap;
    return overlap === undefined ? 1 : OVERLAP_LIMITS[overlap];
  }

  return {
    answerRequest(request, json, caller) {
      const sourceIds = new SourceIds(json, "single");
      return answerOne(request, sourceIds, 0, new BoundContext(endpointFor(caller), caller));
    },
    async answerBatch(requests, json, caller, write, onHeld = () => undefined) {
      const sourceIds = new SourceIds(json, "batch");
      const context = new BoundContext(endpointFor(caller), caller);
      const held = new InFlightReplies(onHeld);
      const begin = (index: number) => answerOne(requests[index], sourceIds, index, context, held);
      /** Neighbours of the request in turn that have been begun beside it. */
      const ahead: Answering[] = [];
      let piece = "[";
      let isFirst = true;
      const turn = new EventLoopSlice();
      for (let index = 0; index < requests.length && !caller.isAbandoned(); index++) {
        const request = requests[index];
        const limit = overlapLimit(request);
        const each = ahead.length > 0 ? ahead.shift() : begin(index);
        for (let next = index + 1 + ahead.length; ahead.length + 1 < limit && !held.areEnough; next++) {
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
          held.remove(reply);
        }
        if (turn.isOver) await turn.yield();
      }
      return `${piece}]`;
    },
  };
}

/** What a caller is offered. */
interface Endpoint<Backend> extends Pick<CallContext<Backend>, "backend" | "modules" | "methods"> {
  /** By each of their names. */
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

/** An answer that is a refusal, as text. */
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
  readonly methods: readonly RpcMethod<Backend>[];
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

/** True when an endpoint with these modules has the method. */
function isOffered(
  { namespace, alsoIn = [] }: Pick<RpcMethod, "namespace" | "alsoIn">,
  modules: ReadonlySet<Namespace>,
): boolean {
  return namespace === "EVERY" || modules.has(namespace) || alsoIn.some((other) => modules.has(other));
}

/** Values of the declared parameters, or the refusal of what cannot be decoded. */
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
