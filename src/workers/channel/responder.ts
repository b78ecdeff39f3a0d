import { dropOldest } from "../../primitives/boundedCache.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { EventLoopPacer } from "../../primitives/pacer.ts";
import type { Batch, Channel, Gatherer } from "./channel.ts";
import type { Credit } from "./credit.ts";
import type { AnswerContents, NumberedAnswer, NumberedRequest } from "./requestSender.ts";

/** A connection of the asking thread. */
interface RemoteClient {
  readonly number: number;
  /** Requests in flight. */
  requests: number;
}

/** Who asked, while a request is in flight. */
export interface RemoteRequester {
  /** One object for all requests of a connection, so that they share one turn in queues, and the time that each took counts. */
  readonly client: RemoteClient | undefined;
  isAbandoned(): boolean;
}

/** What the answering thread does with requests. */
export interface RequestHandler<Request, Answer> {
  perform(request: Request, requester: RemoteRequester): Answer | Promise<Answer>;
  /** Number of the connection that asks, within its thread; undefined for the thread itself. */
  clientOf(request: Request): number | undefined;
  /** Estimated bytes of an answer. */
  sizeOf(answer: NumberedAnswer<Answer>): number;
  /** Memory of an answer that nobody else has, which is handed over, not copied. */
  buffersOf(answer: Answer): readonly ArrayBuffer[];
  /** Called with what `perform` threw, which the asking end hears of as well. */
  failed(error: unknown): void;
}

/** Connections of a thread that are remembered while they ask for nothing; each takes about 100 bytes. */
const IDLE_CLIENTS_LIMIT = 4096;

/**
 * Works on the requests of the other thread (requestSender.ts) in their order and in slices. While too many bytes of answers lie before that
 * thread, none is begun; those in flight add their answers.
 */
export class Responder<Request, Answer> implements Gatherer<Batch<AnswerContents<Answer>>> {
  private readonly channel: AnswerChannel<Answer>;
  private readonly credit: Credit;
  private readonly handler: RequestHandler<Request, Answer>;
  private waiting: NumberedRequest<Request>[] = [];
  private readonly inFlight = new Map<number, InFlight>();
  private readonly clients = new Map<number, RemoteClient>();
  /** Connections without requests in flight, those that had some last at the end. */
  private readonly idle = new Map<number, RemoteClient>();
  private answers: NumberedAnswer<Answer>[] = [];
  private bytes = 0;
  private isWorking = false;

  constructor(channel: AnswerChannel<Answer>, handler: RequestHandler<Request, Answer>) {
    this.channel = channel;
    this.credit = channel.creditOf("answers");
    this.handler = handler;
  }

  receive(requests: readonly NumberedRequest<Request>[]): void {
    for (const one of requests) {
      this.waiting.push(one);
      this.inFlight.set(one.id, new InFlight(this.clientOf(one.request), this.channel));
    }
    if (!this.isWorking) void this.work();
  }

  /** The requesters of these requests are gone. */
  abandon(ids: readonly number[]): void {
    for (const id of ids) this.inFlight.get(id)?.abandon();
  }

  /** Resolves when the other thread has room for more answers, or ended. */
  whenRoom(): Promise<void> {
    return this.channel.whenRoom(() => !this.credit.isFull);
  }

  takeBatch(): Batch<AnswerContents<Answer>> {
    const { answers, bytes } = this;
    this.answers = [];
    this.bytes = 0;
    const transferred = answers.flatMap((one) => ("failed" in one ? [] : this.handler.buffersOf(one.answer)));
    return { kind: "answers", content: answers, messages: answers.length, bytes, transferred };
  }

  /** Sends answers one by one, because one of them cannot be cloned: that one is a failure, and the others are not. */
  cannotSend({ content: answers, messages, bytes }: Batch<AnswerContents<Answer>>): void {
    this.credit.giveBack(messages, bytes);
    for (const one of answers) {
      try {
        this.channel.send("answers", [one], 1, this.handler.sizeOf(one));
      } catch (error) {
        this.handler.failed(error);
        this.channel.send("answers", [{ id: one.id, failed: messageOf(error) }], 1);
      }
    }
  }

  private async work(): Promise<void> {
    this.isWorking = true;
    const pacer = new EventLoopPacer();
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      for (const one of batch) {
        if (this.credit.isFull) await this.whenRoom();
        if (!this.channel.isDropped) this.begin(one);
        await immediateAnswers();
        if (pacer.isDue()) await pacer.yield();
      }
    }
    this.isWorking = false;
  }

  private begin({ id, request }: NumberedRequest<Request>): void {
    const inFlight = this.inFlight.get(id);
    if (inFlight === undefined) return;
    try {
      const answer = this.handler.perform(request, inFlight);
      if (answer instanceof Promise)
        answer.then(
          (known) => this.answer(inFlight, { id, answer: known }),
          (error) => this.failed(inFlight, id, error),
        );
      else this.answer(inFlight, { id, answer });
    } catch (error) {
      this.failed(inFlight, id, error);
    }
  }

  private failed(inFlight: InFlight, id: number, error: unknown): void {
    this.handler.failed(error);
    this.answer(inFlight, { id, failed: messageOf(error) });
  }

  private answer({ client }: InFlight, answer: NumberedAnswer<Answer>): void {
    this.inFlight.delete(answer.id);
    if (client !== undefined) this.answered(client);
    if (this.channel.isDropped) return;
    if (this.answers.length === 0) this.channel.gather(this);
    this.answers.push(answer);
    const bytes = this.handler.sizeOf(answer);
    this.bytes += bytes;
    this.credit.takeBeyond(1, bytes);
  }

  private clientOf(request: Request): RemoteClient | undefined {
    const number = this.handler.clientOf(request);
    if (number === undefined) return undefined;
    const client = this.clients.get(number) ?? this.idle.get(number) ?? { number, requests: 0 };
    client.requests++;
    this.idle.delete(number);
    this.clients.set(number, client);
    return client;
  }

  private answered(client: RemoteClient): void {
    if (--client.requests > 0) return;
    this.clients.delete(client.number);
    this.idle.set(client.number, client);
    dropOldest(this.idle, IDLE_CLIENTS_LIMIT);
  }
}

/** Resolves once promises that needed nothing to wait for have settled, so that their answers count before the next request begins. */
function immediateAnswers(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

type AnswerChannel<Answer> = Pick<
  Channel<AnswerContents<Answer>, object>,
  "creditOf" | "gather" | "send" | "whenRoom" | "isDropped"
>;

class InFlight implements RemoteRequester {
  readonly client: RemoteClient | undefined;
  private readonly channel: { readonly isDropped: boolean };
  private isGone = false;

  constructor(client: RemoteClient | undefined, channel: { readonly isDropped: boolean }) {
    this.client = client;
    this.channel = channel;
  }

  abandon(): void {
    this.isGone = true;
  }

  isAbandoned(): boolean {
    return this.isGone || this.channel.isDropped;
  }
}
