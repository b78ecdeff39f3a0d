import type { Logger } from "../observability/logger.ts";
import { onceKnown } from "../primitives/eventual.ts";
import { BlockRemoved } from "../types/blockRemoved.ts";
import { StateRemoved } from "../types/stateRemoved.ts";
import { RequestFailed } from "../workers/channel/requestSender.ts";
import type { CallerContext } from "./caller.ts";
import { TooManyRequests } from "./core/tooManyRequests.ts";
import { decodeParams } from "./decodeParams.ts";
import { ERRORS, RpcError } from "./errors/errors.ts";
import type { InFlightReplies } from "./inFlightReplies.ts";
import { KNOWN_METHODS } from "./knownMethods.ts";
import type { Answer, CallContext, RpcMethod } from "./method.ts";
import { answerReply, errorReply, type Reply } from "./reply.ts";
import type { Call, Params } from "./request.ts";
import type { RpcMetrics } from "./rpcMetrics.ts";

/** Characters of a method's name that the log shows; others are made up. */
const LOGGED_NAME_LENGTH = 80;

/** Characters of a caller's id that the log shows. */
const LOGGED_ID_LENGTH = 80;

/**
 * Runs single calls: finds the method, asks whether the caller may use it, decodes the parameters, runs the method, encodes
 * and counts its answer. An exception in a method is logged and becomes -32603, save that a block or a state was removed meanwhile.
 */
export class MethodRunner {
  private readonly logger: Logger;
  private readonly metrics: RpcMetrics | undefined;

  /** Without `metrics`, nothing is counted. */
  constructor(logger: Logger, metrics: RpcMetrics | undefined) {
    this.logger = logger;
    this.metrics = metrics;
  }

  /** The reply, which is also added to `inFlight`, if given. */
  run<Backend>(
    call: Call,
    context: CallerContext<Backend>,
    inFlight: InFlightReplies | undefined,
  ): Reply | Promise<Reply> {
    const beganMs = this.logger.isEnabled("debug") ? performance.now() : undefined;
    return onceKnown(this.execute(call, context), (answer) => {
      const reply = this.encode(call, answer);
      if (beganMs !== undefined) this.log(call, context, { beganMs, reply });
      return inFlight === undefined ? reply : inFlight.add(reply);
    });
  }

  /** The answer, not yet encoded. */
  private execute<Backend>(call: Call, context: CallerContext<Backend>): Answer | Promise<Answer> {
    const { method: name } = call;
    const { metrics } = this;
    const method = context.offered.get(name);
    if (method === undefined) return this.unavailable(name);
    if (!context.allows(method)) return this.unauthorized(method.name);
    if (metrics === undefined) return this.perform(method, call, context);
    const startedAtSeconds = metrics.stopwatchSeconds();
    const answer = this.perform(method, call, context);
    return onceKnown(answer, (value) => {
      metrics.answered(name, startedAtSeconds, value);
      return value;
    });
  }

  private unavailable(name: string): RpcError {
    const isKnown = KNOWN_METHODS.has(name);
    const error = isKnown ? ERRORS.methodNotEnabled : ERRORS.methodNotFound;
    this.metrics?.unavailable(isKnown ? name : undefined, error);
    return error;
  }

  private unauthorized(name: string): RpcError {
    this.metrics?.rejected("permission");
    this.metrics?.unavailable(name, ERRORS.unauthorized);
    return ERRORS.unauthorized;
  }

  private perform<Backend>(
    method: RpcMethod<Backend>,
    call: Call,
    context: CallContext<Backend>,
  ): Answer | Promise<Answer> {
    try {
      const answer = answerOf(method, call.params, context);
      return answer instanceof Promise ? answer.catch((error: unknown) => this.failed(call, error)) : answer;
    } catch (error) {
      return this.failed(call, error);
    }
  }

  private encode(call: Call, answer: Answer): Reply {
    try {
      return answerReply(call.idText, answer);
    } catch (error) {
      return errorReply(call.idText, this.failed(call, error));
    }
  }

  /** Logs a request that was refused or failed at DEBUG, every one at TRACE: neither its parameters nor its result. */
  private log<Backend>(
    { method }: Call,
    { remoteHost: client, isForeignPage }: CallerContext<Backend>,
    { beganMs, reply: { error } }: { readonly beganMs: number; readonly reply: Reply },
  ): void {
    const facts = () => ({
      method: method.slice(0, LOGGED_NAME_LENGTH),
      client,
      // Such pages have fewer methods, which is often asked about.
      ...(isForeignPage && { isForeignPage }),
      ms: Math.round(performance.now() - beganMs),
      ...(error !== undefined && { code: error.code, error: error.message }),
    });
    if (error === undefined) this.logger.often("trace", "JSON-RPC request answered", facts);
    else this.logger.often("debug", "JSON-RPC request refused or failed", facts);
  }

  private failed({ method, idText }: Call, error: unknown): RpcError {
    if (error instanceof TooManyRequests) return ERRORS.tooManyCalls;
    if (error instanceof RequestFailed) return ERRORS.internalError;
    // It was there when the method began.
    if (error instanceof StateRemoved) return ERRORS.worldStateUnavailable;
    if (error instanceof BlockRemoved) return ERRORS.historyNotStored;
    // A caller may repeat it.
    const id = idText.slice(0, LOGGED_ID_LENGTH);
    this.logger.often("error", "JSON-RPC method failed", () => ({ method, id, error }));
    return ERRORS.internalError;
  }
}

function answerOf<Backend>(
  method: RpcMethod<Backend>,
  params: Params,
  context: CallContext<Backend>,
): Answer | Promise<Answer> {
  if (method.runUndecoded !== undefined) return method.runUndecoded(params, context);
  const values = decodeParams(method, params);
  return values instanceof RpcError ? values : method.run(values, context);
}
