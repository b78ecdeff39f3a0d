import type { Simulator } from "../../../execution/simulation/callRequest.ts";
import type { StateQueryRunner } from "../../../execution/simulation/stateQuery.ts";
import type { GiftAnswer, GiftRequest } from "../../../faucet/gift.ts";
import type { FindLogs } from "../../../logs/findLogs.ts";
import type { Logger } from "../../../observability/logger.ts";
import { expectDefined } from "../../../primitives/assert.ts";
import { dropOldest } from "../../../primitives/boundedCache.ts";
import { messageOf } from "../../../primitives/errorMessage.ts";
import { EventLoopPacer } from "../../../primitives/pacer.ts";
import type { Tracer } from "../../../tracers/traceJob.ts";
import type { Login } from "../../access/gate.ts";
import type { CallAnswerer } from "../../dispatcher.ts";
import type { Caller } from "../../endpoint.ts";
import type { Objections } from "../../server/health.ts";
import type { SharedTotal } from "../../server/sharedTotals.ts";
import { estimateSize } from "../estimateSize.ts";
import type {
  AnswerOf,
  NumberedAnswer,
  NumberedRequest,
  RemoteAnswer,
  RemoteCaller,
  ThreadRequest,
} from "../protocol.ts";
import { toRemote } from "../remoteAnswer.ts";
import { AnswerTurns } from "./answerTurns.ts";

/** The main thread's side of one thread's requests. */
export interface RequestHost {
  receive(requests: readonly NumberedRequest[]): void;
  /** The callers of these requests are gone. */
  abandon(ids: readonly number[]): void;
  /** The thread ended: nobody waits for its requests any more. */
  drop(): void;
}

export interface RequestHostParts {
  readonly dispatcher: CallAnswerer;
  /** Run what lasts, on threads that can be terminated. */
  readonly simulator: Simulator;
  readonly stateQueries: StateQueryRunner;
  readonly tracer: Tracer;
  readonly findLogs: FindLogs;
  readiness(query: URLSearchParams): Objections;
  /** Another descriptor of a listening socket. */
  descriptor(server: "http" | "webSocket"): number | undefined;
  /** Gives the network's coin away; absent where the faucet is off. */
  readonly give?: ((request: GiftRequest) => Promise<GiftAnswer>) | undefined;
  readonly logins: { readonly http: Login | undefined; readonly webSocket: Login | undefined };
  /** Sends answers of about so many bytes; their large parts are handed over, not copied. */
  post(answers: readonly NumberedAnswer[], bytes: number, transferred: readonly ArrayBuffer[]): void;
  /** Counts about the bytes of answers that the thread has not taken. */
  readonly answerBytes: SharedTotal;
  readonly logger: Logger;
}

/**
 * Bytes of answers that a thread may have before it, which may be held up: with more, none of its requests is begun. Those that are
 * under way add theirs.
 */
export const ANSWER_CREDIT_BYTES = 64 * 1024 * 1024;
/** Connections of a thread that are remembered while they ask for nothing; each takes about 100 bytes. */
const IDLE_CLIENTS_LIMIT = 4096;
/** How often it is looked whether the thread has taken some. */
const FULL_PAUSE_MS = 10;

/**
 * Works on the requests of a thread in their order and in slices, and sends the answers of one event-loop cycle as one
 * message.
 */
export function createRequestHost(parts: RequestHostParts): RequestHost {
  return new Requests(parts);
}

/** A connection of the thread with requests under way. */
interface Client {
  readonly number: number;
  requests: number;
}

interface InFlight {
  readonly client: Client | undefined;
  isAbandoned: boolean;
}

class Requests implements RequestHost {
  private readonly parts: RequestHostParts;
  private readonly turns = new AnswerTurns(() => this.whenRoom());
  private waiting: NumberedRequest[] = [];
  /** Requests under way, by their numbers. */
  private readonly underWay = new Map<number, InFlight>();
  private readonly clients = new Map<number, Client>();
  /** Connections without requests under way, those that had some last at the end. */
  private readonly idle = new Map<number, Client>();
  private answers: NumberedAnswer[] = [];
  private bytes = 0;
  private isWorking = false;
  private isDropped = false;

  constructor(parts: RequestHostParts) {
    this.parts = parts;
  }

  receive(requests: readonly NumberedRequest[]): void {
    for (const one of requests) {
      this.waiting.push(one);
      this.underWay.set(one.id, { client: this.clientOf(one.request), isAbandoned: false });
    }
    if (!this.isWorking) void this.work();
  }

  abandon(ids: readonly number[]): void {
    for (const id of ids) {
      const request = this.underWay.get(id);
      if (request !== undefined) request.isAbandoned = true;
    }
  }

  drop(): void {
    this.isDropped = true;
    this.waiting = [];
  }

  private async work(): Promise<void> {
    this.isWorking = true;
    const pacer = new EventLoopPacer();
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      for (const one of batch) {
        if (this.isFull) await this.whenRoom();
        if (!this.isDropped) this.begin(one);
        if (pacer.isDue()) await pacer.yield();
      }
    }
    this.isWorking = false;
  }

  private get isFull(): boolean {
    return !this.isDropped && this.parts.answerBytes.own >= ANSWER_CREDIT_BYTES;
  }

  private async whenRoom(): Promise<void> {
    while (this.isFull) await new Promise((resolve) => setTimeout(resolve, FULL_PAUSE_MS));
  }

  private begin({ id, request }: NumberedRequest): void {
    try {
      const answer = this.perform(id, request);
      if (answer instanceof Promise)
        answer.then(
          (known) => this.answer({ id, answer: known }),
          (error) => this.failed(id, error),
        );
      else this.answer({ id, answer });
    } catch (error) {
      this.failed(id, error);
    }
  }

  private perform(
    id: number,
    request: ThreadRequest,
  ): AnswerOf[keyof AnswerOf] | Promise<AnswerOf[keyof AnswerOf]> {
    const { simulator, stateQueries, tracer, findLogs, readiness, descriptor, logins } = this.parts;
    switch (request.kind) {
      case "call":
        return this.call(request, this.callerOf(id, request.caller));
      case "simulate":
        return simulator.run(request.job, this.callerOf(id, request.caller));
      case "query":
        return stateQueries.query(request.job, this.callerOf(id, request.caller));
      case "trace":
        return tracer.run(request.job, this.callerOf(id, request.caller));
      case "logs":
        return findLogs(request.criteria, request.range, this.callerOf(id, request.caller));
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

  private callerOf(id: number, { remoteHost, isForeignPage }: RemoteCaller): Caller {
    const request = expectDefined(this.underWay.get(id), "a request under way");
    return {
      client: expectDefined(request.client, "the connection of a call"),
      connection: undefined,
      remoteHost,
      isForeignPage,
      isAbandoned: () => this.isDropped || request.isAbandoned,
    };
  }

  /** One object for all requests of a connection, so that they share one turn in queues, and the time that each took counts. */
  private clientOf(request: ThreadRequest): Client | undefined {
    if (!("caller" in request)) return undefined;
    const { client: number } = request.caller;
    const client = this.clients.get(number) ?? this.idle.get(number) ?? { number, requests: 0 };
    client.requests++;
    this.idle.delete(number);
    this.clients.set(number, client);
    return client;
  }

  private forget(id: number): void {
    const client = this.underWay.get(id)?.client;
    this.underWay.delete(id);
    if (client === undefined || --client.requests > 0) return;
    this.clients.delete(client.number);
    this.idle.set(client.number, client);
    dropOldest(this.idle, IDLE_CLIENTS_LIMIT);
  }

  private failed(id: number, error: unknown): void {
    this.parts.logger.error({ error }, "a request of another thread failed");
    this.answer({ id, failed: messageOf(error) });
  }

  private answer(answer: NumberedAnswer): void {
    this.forget(answer.id);
    if (this.isDropped) return;
    if (this.answers.length === 0) setImmediate(() => this.send());
    this.answers.push(answer);
    const bytes = estimateSize(answer);
    this.bytes += bytes;
    this.parts.answerBytes.add(bytes);
  }

  private send(): void {
    const { answers, bytes } = this;
    this.answers = [];
    this.bytes = 0;
    if (!this.isDropped) this.parts.post(answers, bytes, answers.flatMap(buffersOf));
  }
}

/** Memory of a trace, of found logs or of a listing, which nobody else has: of the first two the thread that wrote them gave it. */
function buffersOf(numbered: NumberedAnswer): readonly ArrayBuffer[] {
  if ("failed" in numbered) return [];
  const { answer } = numbered;
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
