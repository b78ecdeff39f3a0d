import type { Logger } from "../observability/logger.ts";
import type { JsonPiece } from "../primitives/jsonPieces.ts";
import { type Answering, answerBatch, type WritePiece } from "./batch.ts";
import { type Caller, CallerContext } from "./caller.ts";
import { ERRORS } from "./errors/errors.ts";
import { InFlightReplies } from "./inFlightReplies.ts";
import { memoized } from "./memoized.ts";
import { type Namespace, OPERATOR_NAMESPACES, type RpcMethod } from "./method.ts";
import { MethodRunner } from "./methodRunner.ts";
import { createMethodSet, type MethodSet } from "./methodSet.ts";
import { errorReply, type Reply } from "./reply.ts";
import { readRequest } from "./request.ts";
import type { RpcMetrics } from "./rpcMetrics.ts";
import { CallerPacer, CallerTime } from "./server/callerTime.ts";
import { SourceIds } from "./sourceIds.ts";

/**
 * Turns a parsed message into the text of its answer, the same for every server.
 *
 *   server/http.ts      ┐  parsed JSON             ┌ readRequest: id, name, params    (request.ts)
 *   server/websocket.ts ├ ───────────> dispatcher ─┤ find the method, decode params   (methodRunner.ts)
 *   server/ipc.ts       ┘ <─────────── text, error └ run, encode the answer           (methods/**, reply.ts)
 *
 * Invariants: every call gets exactly one answer with its own id; a notification gets none and is not executed; an
 * exception in a method is logged and becomes -32603; a method that answers synchronously costs no promise. The servers
 * handle limits, sockets and the differences between HTTP, WebSocket and IPC.
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
    write: WritePiece,
    onInFlight?: (length: number) => void,
  ): Promise<JsonPiece>;
}

export interface DispatcherSettings<Backend> {
  readonly methods: readonly RpcMethod<Backend>[];
  /** Modules that the operator enabled for this server; read for each request, so that they may be replaced. */
  readonly modules: ReadonlySet<Namespace>;
}

interface DispatcherParts<Backend> {
  readonly backend: Backend;
  readonly logger: Logger;
  /** When absent, nothing is counted. */
  readonly metrics?: RpcMetrics | undefined;
  /** The time of this thread; that of this dispatcher alone if not given. */
  readonly callerTime?: CallerTime | undefined;
}

/** Neighbours in a batch that may run, or wait to be written, at one time. */
const OVERLAP_LIMITS = { few: 8, many: 256 };

export function createDispatcher<Backend>(
  settings: DispatcherSettings<Backend>,
  { backend, logger, metrics, callerTime = new CallerTime() }: DispatcherParts<Backend>,
): Dispatcher {
  const { methods } = settings;
  const methodSets = memoized(
    () => settings.modules,
    (modules) => ({
      full: createMethodSet(methods, modules, backend),
      restricted: createMethodSet(
        methods.filter(({ isGuarded }) => isGuarded !== true),
        new Set([...modules].filter((module) => !OPERATOR_NAMESPACES.has(module))),
        backend,
      ),
    }),
  );
  const runner = new MethodRunner(logger, metrics);

  function contextOf(caller: Caller): CallerContext<Backend> {
    const { full, restricted } = methodSets();
    const methodSet: MethodSet<Backend> = caller.isForeignPage ? restricted : full;
    return new CallerContext(methodSet, caller);
  }

  function answer(
    value: unknown,
    sourceIds: SourceIds,
    index: number,
    context: CallerContext<Backend>,
    inFlight?: InFlightReplies,
  ): Answering {
    const request = readRequest(value, sourceIds, index);
    if (request.kind === "notification") return undefined;
    if (request.kind === "invalid") {
      logger.often("debug", "JSON-RPC request is invalid", () => ({ client: context.remoteHost }));
      return errorReply(request.idText, ERRORS.invalidRequest);
    }
    return runner.run(request, context, inFlight);
  }

  function overlapLimit(method: string): number {
    const overlap = methodSets().full.offered.get(method)?.mayOverlap;
    return overlap === undefined ? 1 : OVERLAP_LIMITS[overlap];
  }

  return {
    answerRequest: (request, json, caller) =>
      answer(request, new SourceIds(json, "single"), 0, contextOf(caller)),
    answerBatch(requests, json, caller, write, onInFlight = () => undefined) {
      const sourceIds = new SourceIds(json, "batch");
      const context = contextOf(caller);
      const inFlight = new InFlightReplies(onInFlight);
      const batch = {
        requests,
        begin: (index: number) => answer(requests[index], sourceIds, index, context, inFlight),
        overlapLimit,
        isAbandoned: () => caller.isAbandoned(),
        inFlight,
        pacer: new CallerPacer(callerTime, caller.remoteHost),
      };
      return answerBatch(batch, write);
    },
  };
}
