import { expectDefined } from "../../primitives/assert.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { Batch, Channel, Gatherer } from "./channel.ts";

export interface NumberedRequest<Request> {
  readonly id: number;
  readonly request: Request;
}

export type NumberedAnswer<Answer> =
  | { readonly id: number; readonly answer: Answer }
  /** The other thread failed, which it has logged. */
  | { readonly id: number; readonly failed: string };

/** The other thread failed at a request, which it has logged. */
export class RequestFailed extends Error {
  override name = "RequestFailed";
}

/** What the asking end sends. */
export interface RequestContents<Request> {
  readonly requests: readonly NumberedRequest<Request>[];
  /** Nobody waits any more for the answers to these requests. */
  readonly abandoned: readonly number[];
}

/** What the answering end sends (responder.ts). */
export interface AnswerContents<Answer> {
  readonly answers: readonly NumberedAnswer<Answer>[];
}

/** What remote hosts may have of messages that are not answered. */
export interface HostLimit {
  /** Counts one more message; false when that were too many. */
  takeMessage(remoteHost: string): boolean;
  /** Counts the bytes of that message; false, and the message is given back, when they were too many. */
  takeBytes(remoteHost: string, bytes: number): boolean;
  /** Gives back one message with its bytes. */
  giveBack(remoteHost: string, bytes: number): void;
}

interface Pending<Answer> {
  readonly bytes: number;
  readonly remoteHost: string;
  /** Undefined once the other thread knows that its requester is gone. */
  requester: Pick<Requester, "isAbandoned"> | undefined;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

type RequestBatch<Request> = Batch<Pick<RequestContents<Request>, "requests">>;

/** Polling interval for requesters that are gone. */
const ABANDONED_CHECK_MS = 500;

/** Asks the other thread. Each request keeps its place within the limit until it is answered. */
export class RequestSender<Request, Answer> implements Gatherer<RequestBatch<Request>> {
  private readonly channel: Pick<Channel<RequestContents<Request>, object>, "gather" | "send">;
  private readonly limit: HostLimit;
  private readonly sizeOf: (request: Request) => number;
  private readonly pending = new Map<number, Pending<Answer>>();
  private readonly check: NodeJS.Timeout;
  private unsent: NumberedRequest<Request>[] = [];
  private newest = 0;

  /** `sizeOf` estimates the bytes of a request. */
  constructor(
    channel: Pick<Channel<RequestContents<Request>, object>, "gather" | "send">,
    limit: HostLimit,
    sizeOf: (request: Request) => number,
  ) {
    this.channel = channel;
    this.limit = limit;
    this.sizeOf = sizeOf;
    this.check = setInterval(() => this.tellAbandoned(), ABANDONED_CHECK_MS).unref();
  }

  /** Rejects with RequestFailed, or with what keeps the request from being cloned; resolves to "busy" when too many wait. */
  ask(
    request: Request,
    requester: Pick<Requester, "isAbandoned"> | undefined,
    remoteHost: string,
  ): Promise<Answer | "busy"> {
    if (!this.limit.takeMessage(remoteHost)) return Promise.resolve("busy");
    const bytes = this.sizeOf(request);
    if (!this.limit.takeBytes(remoteHost, bytes)) return Promise.resolve("busy");
    return new Promise<Answer>((resolve, reject) => {
      const id = ++this.newest;
      this.pending.set(id, { bytes, remoteHost, requester, resolve, reject });
      if (this.unsent.length === 0) this.channel.gather(this);
      this.unsent.push({ id, request });
    });
  }

  receive(answers: readonly NumberedAnswer<Answer>[]): void {
    for (const one of answers) {
      const { resolve, reject } = this.take(one.id);
      if ("failed" in one) reject(new RequestFailed(one.failed));
      else resolve(one.answer);
    }
  }

  close(): void {
    clearInterval(this.check);
  }

  takeBatch(): RequestBatch<Request> {
    const requests = this.unsent;
    this.unsent = [];
    return { kind: "requests", content: requests, messages: 0, bytes: 0 };
  }

  /** Sends requests one by one, because one of them cannot be cloned: such as one that is nested too deeply. */
  cannotSend({ content: requests }: RequestBatch<Request>): void {
    for (const one of requests) {
      try {
        this.channel.send("requests", [one]);
      } catch (error) {
        this.take(one.id).reject(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  private take(id: number): Pending<Answer> {
    const request = expectDefined(this.pending.get(id), "a request that is answered");
    this.pending.delete(id);
    this.limit.giveBack(request.remoteHost, request.bytes);
    return request;
  }

  private tellAbandoned(): void {
    const ids: number[] = [];
    for (const [id, request] of this.pending) {
      if (request.requester?.isAbandoned() !== true) continue;
      request.requester = undefined;
      ids.push(id);
    }
    if (ids.length > 0) this.channel.send("abandoned", ids);
  }
}
