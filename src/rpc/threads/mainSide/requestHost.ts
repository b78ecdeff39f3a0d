import type { Logger } from "../../../observability/logger.ts";
import { expectDefined } from "../../../primitives/assert.ts";
import type { Requester } from "../../../primitives/requester.ts";
import { BlockRemoved } from "../../../types/blockRemoved.ts";
import { StateRemoved } from "../../../types/stateRemoved.ts";
import type { NumberedRequest } from "../../../workers/channel/requestSender.ts";
import { type RemoteRequester, type RequestHandler, Responder } from "../../../workers/channel/responder.ts";
import type { Core } from "../../core/core.ts";
import { CORE_CALLS, type CoreCallRules } from "../../core/coreCalls.ts";
import { estimateSize } from "../estimateSize.ts";
import type { MainChannel } from "../messages.ts";
import { withOwnMemory } from "../ownMemory.ts";
import type { CoreOutcome, CoreRequest, RemoteCaller } from "../protocol.ts";
import { AnswerTurns } from "./answerTurns.ts";

interface RequestHostParts {
  readonly core: Core;
  readonly logger: Logger;
}

type AnyCall = (...args: readonly unknown[]) => Promise<unknown>;

/** Makes the calls of the core that one thread for callers asks for (core/remoteCore.ts). */
export class RequestHost implements RequestHandler<CoreRequest, CoreOutcome> {
  private readonly parts: RequestHostParts;
  private readonly responder: Responder<CoreRequest, CoreOutcome>;
  private readonly turns = new AnswerTurns(() => this.responder.whenRoom());

  constructor(channel: MainChannel, parts: RequestHostParts) {
    this.parts = parts;
    this.responder = new Responder(channel, this);
  }

  receive(requests: readonly NumberedRequest<CoreRequest>[]): void {
    this.responder.receive(requests);
  }

  /** The callers of these requests are gone. */
  abandon(ids: readonly number[]): void {
    this.responder.abandon(ids);
  }

  clientOf({ caller }: CoreRequest): number {
    return caller.client;
  }

  readonly sizeOf = estimateSize;

  readonly buffersOf = buffersOf;

  failed(error: unknown): void {
    this.parts.logger.error({ error }, "a request of another thread failed");
  }

  async perform(request: CoreRequest, remote: RemoteRequester): Promise<CoreOutcome> {
    const { call, caller } = request;
    const requester = requesterOf(remote, caller);
    const make = (): Promise<unknown> => this.call(request, requester);
    try {
      // A caller who has gone gets no answer, and no turn.
      const isLarge = CORE_CALLS[call].takesTurns === true;
      return { call, result: withOwnMemory(await (isLarge ? this.turns.make(requester, make) : make())) };
    } catch (error) {
      if (error instanceof BlockRemoved) return { removed: "block", number: error.number };
      if (error instanceof StateRemoved) return { removed: "state", number: error.number };
      throw error;
    }
  }

  private call({ call, args }: CoreRequest, requester: Requester): Promise<unknown> {
    const [group = "", name = ""] = call.split(".");
    // The arguments were those of this call on the other thread, hence the casts.
    const calls = this.parts.core[group as keyof Core] as unknown as Readonly<Record<string, AnyCall>>;
    return expectDefined(calls[name], "a call of the core")(...args, requester);
  }
}

function requesterOf(remote: RemoteRequester, { remoteHost }: RemoteCaller): Requester {
  return {
    client: expectDefined(remote.client, "the connection of a call"),
    remoteHost,
    isAbandoned: () => remote.isAbandoned(),
  };
}

/** Memory of a result that nobody else uses. */
function buffersOf(outcome: CoreOutcome): readonly ArrayBuffer[] {
  // A large answer is not made for a caller who has gone.
  if (!("call" in outcome) || outcome.result === undefined) return [];
  // The rule of a call takes the result of this call, hence the cast.
  const owned = CORE_CALLS[outcome.call].owned as CoreCallRules["owned"];
  return (owned?.(outcome.result) ?? []).flatMap((piece) => {
    if (typeof piece === "string") return [];
    const { buffer, byteLength } = piece;
    return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
  });
}
