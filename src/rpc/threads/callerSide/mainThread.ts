import { expectDefined } from "../../../primitives/assert.ts";
import type { Requester } from "../../../primitives/requester.ts";
import { HostShares } from "../../server/hostShares.ts";
import type { SharedHosts } from "../../server/sharedHosts.ts";
import { type SharedTotals, shareTotals } from "../../server/sharedTotals.ts";
import { estimateSize } from "../estimateSize.ts";
import type {
  AnswerOf,
  FromThread,
  NumberedAnswer,
  NumberedRequest,
  RemoteCaller,
  ThreadRequest,
} from "../protocol.ts";

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
  readonly remoteHost: string;
  /** Undefined once the main thread knows that its caller is gone. */
  requester: Pick<Requester, "isAbandoned"> | undefined;
  resolve(answer: AnswerOf[keyof AnswerOf]): void;
  reject(error: Error): void;
}

/** Requests of all threads that the main thread may have at one time; those of one remote host alone can be half of them. */
export const REQUEST_LIMIT = 16_384;
/** About the bytes of these. */
export const REQUEST_BYTES = 64 * 1024 * 1024;
/** Stands for requests that no caller is behind, or whose number is limited elsewhere, such as log-ins. */
const OWN = "";
/** How often the requests are looked through for callers that are gone. */
const CHECK_MS = 500;

/** What remote hosts have of requests, and about their bytes, on all threads. */
export interface SharedRequests {
  readonly requests: SharedHosts;
  readonly requestBytes: SharedHosts;
}

/** Requests of one event-loop cycle go to the main thread as one message. `shared` are those of other threads. */
export function createMainThread(
  post: (message: FromThread) => void,
  { answerBytes }: Pick<SharedTotals, "answerBytes"> = shareTotals(),
  shared?: SharedRequests,
): MainThread {
  const counts = new HostShares(REQUEST_LIMIT, shared?.requests);
  const sizes = new HostShares(REQUEST_BYTES, shared?.requestBytes);
  const pending = new Map<number, Pending>();
  let unsent: NumberedRequest[] = [];
  let newest = 0;

  function take(id: number): Pending {
    const request = expectDefined(pending.get(id), "a request that is answered");
    pending.delete(id);
    counts.giveBack(request.remoteHost, 1);
    sizes.giveBack(request.remoteHost, request.bytes);
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

  /** Sends requests one by one, because one of them cannot be sent: such as one that is nested too deeply. */
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
      const remoteHost = "caller" in request ? request.caller.remoteHost : OWN;
      if (!counts.take(remoteHost, 1)) return Promise.resolve("busy" as const);
      const bytes = estimateSize(request);
      if (!sizes.take(remoteHost, bytes)) {
        counts.giveBack(remoteHost, 1);
        return Promise.resolve("busy" as const);
      }
      return new Promise<AnswerOf[Kind]>((resolve, reject) => {
        const id = ++newest;
        // The main thread answers each request with an answer of its kind, hence the cast.
        pending.set(id, { bytes, remoteHost, requester, resolve: resolve as Pending["resolve"], reject });
        if (unsent.length === 0) setImmediate(send);
        unsent.push({ id, request });
      });
    },
    receive(answers, bytes) {
      answerBytes.add(-bytes);
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
