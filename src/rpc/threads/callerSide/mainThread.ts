import type { Requester } from "../../../primitives/requester.ts";
import type { NumberedAnswer } from "../../../workers/channel/requestSender.ts";
import { RequestSender } from "../../../workers/channel/requestSender.ts";
import { estimateSize } from "../estimateSize.ts";
import type { ThreadChannel } from "../messages.ts";
import type { AnswerOf, RemoteCaller, ThreadRequest } from "../protocol.ts";
import { HostCredit, type SharedHostCredit } from "./hostCredit.ts";

/** The main thread, as a thread that answers callers asks it. */
export interface MainThread {
  /** Rejects when the main thread failed; resolves to "busy" when too many requests wait for it. */
  ask<Kind extends ThreadRequest["kind"]>(
    request: ThreadRequest & { readonly kind: Kind },
    requester?: Pick<Requester, "isAbandoned">,
  ): Promise<AnswerOf[Kind] | "busy">;
  /** Takes the answers that came from it. */
  receive(answers: readonly NumberedAnswer<AnswerOf[keyof AnswerOf]>[]): void;
  close(): void;
}

/** Stands for requests that no caller is behind, or whose number is limited elsewhere, such as log-ins. */
const OWN = "";

/** `shared` are the requests of other threads. */
export function createMainThread(
  channel: Pick<ThreadChannel, "gather" | "send">,
  shared?: SharedHostCredit,
): MainThread {
  const sender = new RequestSender<ThreadRequest, AnswerOf[keyof AnswerOf]>(
    channel,
    new HostCredit("requests", shared),
    estimateSize,
  );
  return {
    ask<Kind extends ThreadRequest["kind"]>(
      request: ThreadRequest & { readonly kind: Kind },
      requester: Pick<Requester, "isAbandoned"> | undefined,
    ) {
      const remoteHost = "caller" in request ? request.caller.remoteHost : OWN;
      // The main thread answers each request with an answer of its kind, hence the cast.
      return sender.ask(request, requester, remoteHost) as Promise<AnswerOf[Kind] | "busy">;
    },
    receive: (answers) => sender.receive(answers),
    close: () => sender.close(),
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
