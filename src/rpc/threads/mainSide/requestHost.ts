import type { Simulator } from "../../../execution/simulation/callRequest.ts";
import type { StateQueryRunner } from "../../../execution/simulation/stateQuery.ts";
import type { GiftAnswer, GiftRequest } from "../../../faucet/gift.ts";
import type { FindLogs } from "../../../logs/findLogs.ts";
import type { Logger } from "../../../observability/logger.ts";
import { expectDefined } from "../../../primitives/assert.ts";
import type { Tracer } from "../../../tracers/traceJob.ts";
import type { NumberedRequest } from "../../../workers/channel/requestSender.ts";
import { type RemoteRequester, type RequestHandler, Responder } from "../../../workers/channel/responder.ts";
import type { Login } from "../../access/gate.ts";
import type { CallAnswerer } from "../../dispatcher.ts";
import type { Caller } from "../../endpoint.ts";
import type { Objections } from "../../server/health.ts";
import type { CallerServerName, GuardedServerName } from "../../server/serverTable.ts";
import { estimateSize } from "../estimateSize.ts";
import type { MainChannel } from "../messages.ts";
import type { AnswerOf, RemoteAnswer, RemoteCaller, ThreadRequest } from "../protocol.ts";
import { toRemote } from "../remoteAnswer.ts";
import { AnswerTurns } from "./answerTurns.ts";

export interface RequestHostParts {
  readonly dispatcher: CallAnswerer;
  /** Run what lasts, on threads that can be terminated. */
  readonly simulator: Simulator;
  readonly stateQueries: StateQueryRunner;
  readonly tracer: Tracer;
  readonly findLogs: FindLogs;
  readiness(query: URLSearchParams): Objections;
  /** Another descriptor of a listening socket. */
  descriptor(server: CallerServerName): number | undefined;
  /** Gives the network's coin away; absent where the faucet is off. */
  readonly give?: ((request: GiftRequest) => Promise<GiftAnswer>) | undefined;
  readonly logins: Readonly<Record<GuardedServerName, Login | undefined>>;
  readonly logger: Logger;
}

/** The main thread's side of one thread's requests (callerSide/mainThread.ts). */
export class RequestHost implements RequestHandler<ThreadRequest, AnswerOf[keyof AnswerOf]> {
  private readonly parts: RequestHostParts;
  private readonly responder: Responder<ThreadRequest, AnswerOf[keyof AnswerOf]>;
  private readonly turns = new AnswerTurns(() => this.responder.whenRoom());

  constructor(channel: MainChannel, parts: RequestHostParts) {
    this.parts = parts;
    this.responder = new Responder(channel, this);
  }

  receive(requests: readonly NumberedRequest<ThreadRequest>[]): void {
    this.responder.receive(requests);
  }

  /** The callers of these requests are gone. */
  abandon(ids: readonly number[]): void {
    this.responder.abandon(ids);
  }

  clientOf(request: ThreadRequest): number | undefined {
    return "caller" in request ? request.caller.client : undefined;
  }

  readonly sizeOf = estimateSize;

  readonly buffersOf = buffersOf;

  failed(error: unknown): void {
    this.parts.logger.error({ error }, "a request of another thread failed");
  }

  perform(
    request: ThreadRequest,
    requester: RemoteRequester,
  ): AnswerOf[keyof AnswerOf] | Promise<AnswerOf[keyof AnswerOf]> {
    const { simulator, stateQueries, tracer, findLogs, readiness, descriptor, logins } = this.parts;
    switch (request.kind) {
      case "call":
        return this.call(request, callerOf(requester, request.caller));
      case "simulate":
        return simulator.run(request.job, callerOf(requester, request.caller));
      case "query":
        return stateQueries.query(request.job, callerOf(requester, request.caller));
      case "trace":
        return tracer.run(request.job, callerOf(requester, request.caller));
      case "logs":
        return findLogs(request.criteria, request.range, callerOf(requester, request.caller));
      case "descriptor":
        return descriptor(request.server);
      case "readiness":
        return readiness(new URLSearchParams(request.query));
      case "gift":
        return expectDefined(this.parts.give, "the faucet of a request for a gift")(request.gift);
      case "login":
        return expectDefined(logins[request.server], "the log-in of a server with users")(request.attempt);
    }
  }

  private call(
    { method, params }: ThreadRequest & { readonly kind: "call" },
    caller: Caller,
  ): RemoteAnswer | Promise<RemoteAnswer> {
    const { dispatcher } = this.parts;
    const make = (): RemoteAnswer | Promise<RemoteAnswer> => {
      const answer = dispatcher.answerCall({ method, params }, caller);
      return answer instanceof Promise
        ? answer.then((made) => toRemote(made, caller))
        : toRemote(answer, caller);
    };
    return dispatcher.takesTurns(method) ? this.inTurn(caller, make) : make();
  }

  private async inTurn(
    caller: Caller,
    make: () => RemoteAnswer | Promise<RemoteAnswer>,
  ): Promise<RemoteAnswer> {
    return (await this.turns.make(caller, make)) ?? { kind: "value", value: null };
  }
}

function callerOf(requester: RemoteRequester, { remoteHost, isForeignPage }: RemoteCaller): Caller {
  return {
    client: expectDefined(requester.client, "the connection of a call"),
    connection: undefined,
    remoteHost,
    isForeignPage,
    isAbandoned: () => requester.isAbandoned(),
  };
}

/** Memory of a trace, of found logs or of a listing, which nobody else has: of the first two the thread that wrote them gave it. */
function buffersOf(answer: AnswerOf[keyof AnswerOf]): readonly ArrayBuffer[] {
  if (typeof answer !== "object" || !("kind" in answer)) return [];
  const hasOwnPieces =
    answer.kind === "traced" || answer.kind === "found" || (answer.kind === "pieces" && answer.areOwn);
  if (!hasOwnPieces) return [];
  return answer.pieces.flatMap((piece) => {
    if (typeof piece === "string") return [];
    const { buffer } = piece;
    const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === piece.length;
    return isWhole ? [buffer] : [];
  });
}
