import { expectDefined } from "../../primitives/assert.ts";
import type { Requester } from "../../primitives/requester.ts";
import { addWithin, type SharedTotals, shareTotals } from "../server/sharedTotals.ts";
import type {
  AnswerOf,
  FromThread,
  NumberedAnswer,
  NumberedRequest,
  RemoteCaller,
  ThreadRequest,
} from "./protocol.ts";
import { roughSizeOf } from "./roughSize.ts";

/** The main thread, as a thread that answers callers asks it. */
export interface MainThread {
  /** Rejects when the main thread failed; resolves to "busy" when too many requests wait for it. */
  ask<Kind extends ThreadRequest["kind"]>(
    request: ThreadRequest & { readonly kind: Kind },
    requester?: Pick<Requester, "isAbandoned">,
  ): Promise<AnswerOf[Kind] | "busy">;
  /** Takes the answers that came from it, of about so many bytes. */
  receive(answers: readonly NumberedAnswer[], bytes: number): void;
  close(): void;
}

interface Pending {
  readonly bytes: number;
  /** Undefined once the main thread knows that its caller is gone. */
  requester: Pick<Requester, "isAbandoned"> | undefined;
  resolve(answer: AnswerOf[keyof AnswerOf]): void;
  reject(error: Error): void;
}

/** Requests of all threads that the main thread may have at one time. */
export const REQUEST_LIMIT = 16_384;
/** About the bytes of these. */
export const REQUEST_BYTES = 64 * 1024 * 1024;
/** How often the requests are looked through for callers that are gone. */
const CHECK_MS = 500;

/** Requests of one event-loop cycle go to the main thread as one message. `totals` count those of all threads. */
export function createMainThread(
  post: (message: FromThread) => void,
  totals: Pick<SharedTotals, "requests" | "requestBytes" | "answerBytes"> = shareTotals(),
): MainThread {
  const pending = new Map<number, Pending>();
  let unsent: NumberedRequest[] = [];
  let newest = 0;

  function take(id: number): Pending {
    const request = expectDefined(pending.get(id), "a request that is answered");
    pending.delete(id);
    totals.requests.add(-1);
    totals.requestBytes.add(-request.bytes);
    return request;
  }

  function send(): void {
    const requests = unsent;
    unsent = [];
    try {
      post({ kind: "requests", requests });
    } catch {
      sendSingly(requests);
    }
  }

  /** One of several requests cannot be sent: such as one that is nested too deeply. */
  function sendSingly(requests: readonly NumberedRequest[]): void {
    for (const one of requests) {
      try {
        post({ kind: "requests", requests: [one] });
      } catch (error) {
        take(one.id).reject(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  const check = setInterval(() => {
    const ids: number[] = [];
    for (const [id, request] of pending) {
      if (request.requester?.isAbandoned() !== true) continue;
      request.requester = undefined;
      ids.push(id);
    }
    if (ids.length > 0) post({ kind: "abandoned", ids });
  }, CHECK_MS).unref();

  return {
    ask<Kind extends ThreadRequest["kind"]>(
      request: ThreadRequest & { readonly kind: Kind },
      requester: Pick<Requester, "isAbandoned"> | undefined,
    ) {
      if (!addWithin(totals.requests, 1, REQUEST_LIMIT)) return Promise.resolve("busy" as const);
      const bytes = roughSizeOf(request);
      if (!addWithin(totals.requestBytes, bytes, REQUEST_BYTES)) {
        totals.requests.add(-1);
        return Promise.resolve("busy" as const);
      }
      return new Promise<AnswerOf[Kind]>((resolve, reject) => {
        const id = ++newest;
        // The main thread answers each request with an answer of its kind, hence the cast.
        pending.set(id, { bytes, requester, resolve: resolve as Pending["resolve"], reject });
        if (unsent.length === 0) setImmediate(send);
        unsent.push({ id, request });
      });
    },
    receive(answers, bytes) {
      totals.answerBytes.add(-bytes);
      for (const one of answers) {
        const { resolve, reject } = take(one.id);
        if ("failed" in one) reject(new Error(one.failed));
        else resolve(one.answer);
      }
    },
    close: () => clearInterval(check),
  };
}

/** Numbers the connections of a thread. */
export function callerNumbers(): (
  requester: Requester & { readonly isForeignPage?: boolean },
) => RemoteCaller {
  const numbers = new WeakMap<object, number>();
  let newest = 0;
  return ({ client, remoteHost, isForeignPage = false }) => {
    let number = numbers.get(client);
    if (number === undefined) {
      number = ++newest;
      numbers.set(client, number);
    }
    return { client: number, remoteHost, isForeignPage };
  };
}
