import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "../caller.ts";
import type { Dispatcher } from "../dispatcher.ts";
import { ERRORS } from "../errors/errors.ts";
import { isObject } from "../parameters/parameters.ts";
import { errorReply } from "../reply.ts";
import { type HttpAnswerParts, type HttpAnswerSettings, HttpAnswers } from "./httpAnswers.ts";
import { HttpIntake, type IntakeParts, type IntakeSettings } from "./httpIntake.ts";
import { respondJson, respondUntyped } from "./httpResponse.ts";
import type { MessageReader } from "./messageReader.ts";
import { TOO_MANY_PARTS } from "./parseMessage.ts";

export interface HttpRequestSettings extends HttpAnswerSettings, IntakeSettings {
  /** Most requests in a batch; undefined for no limit. */
  readonly maxBatchSize: number | undefined;
}

export interface HttpRequestParts extends HttpAnswerParts, IntakeParts {
  readonly dispatcher: Dispatcher;
  readonly reader: MessageReader;
}

/**
 * Answers JSON-RPC over HTTP: the route POST /, after the checks of host and origin (json-rpc-errors.md#http).
 */
export function createHttpRequestHandler(
  settings: HttpRequestSettings,
  parts: HttpRequestParts,
): (request: IncomingMessage, response: ServerResponse) => void {
  const handler = new HttpRequestHandler(settings, parts);
  return (request, response) => handler.handle(request, response);
}

class HttpRequestHandler {
  private readonly settings: HttpRequestSettings;
  private readonly parts: HttpRequestParts;
  private readonly answers: HttpAnswers;
  private readonly intake: HttpIntake;

  constructor(settings: HttpRequestSettings, parts: HttpRequestParts) {
    this.settings = settings;
    this.parts = parts;
    this.answers = new HttpAnswers(settings, parts);
    this.intake = new HttpIntake(settings, parts, this.answers.callerTime, (response) =>
      respondUntyped(response, 401, errorReply("null", ERRORS.unauthorized).text),
    );
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.intake.take(request, response, (body, caller) => this.read(body, caller, response));
  }

  private read(body: string, caller: Caller, response: ServerResponse): void {
    const reading = this.parts.reader.read(body, caller, (value) =>
      this.onValue(value, body, caller, response),
    );
    if (reading === "busy") {
      this.intake.logRefusal("too much is waiting to be read", response.req);
      respondJson(response, 200, errorReply("null", ERRORS.tooManyCalls).text);
    } else reading?.catch((error: unknown) => this.intake.breakOff(response, error));
  }

  private onValue(value: unknown, body: string, caller: Caller, response: ServerResponse): void {
    if (Array.isArray(value)) this.onBatch(value, body, caller, response);
    else if (isObject(value)) this.onSingle(value, body, caller, response);
    else if (value === TOO_MANY_PARTS) {
      this.intake.logRefusal("too many parts", response.req);
      respondJson(response, 200, errorReply("null", ERRORS.messageTooLarge).text);
    } else {
      this.intake.logRefusal("not a JSON object", response.req);
      respondUntyped(response, 400, errorReply("null", ERRORS.parseError).text);
    }
  }

  private onSingle(value: object, body: string, caller: Caller, response: ServerResponse): void {
    const { answers } = this;
    const reply = this.parts.dispatcher.answerRequest(value, body, caller);
    if (reply instanceof Promise)
      this.intake.withTimeout(response, async () => answers.respondSlowly(response, await reply, caller));
    else if (reply !== undefined && answers.isLarge(reply))
      this.intake.withTimeout(response, () => answers.respondSlowly(response, reply, caller));
    else answers.respond(response, reply);
  }

  private onBatch(values: readonly unknown[], body: string, caller: Caller, response: ServerResponse): void {
    const { maxBatchSize } = this.settings;
    if (values.length === 0) {
      this.intake.logRefusal("empty batch", response.req);
      respondUntyped(response, 400, errorReply("null", ERRORS.invalidRequest).text);
      return;
    }
    if (maxBatchSize !== undefined && values.length > maxBatchSize) {
      this.parts.metrics?.rejected("batch");
      this.intake.logRefusal("batch too large", response.req);
      respondJson(response, 200, errorReply("null", ERRORS.batchTooLarge).text);
      return;
    }
    this.intake.withTimeout(response, () =>
      this.answers.respondBatch(response, caller, (write, onInFlight) =>
        this.parts.dispatcher.answerBatch(values, body, caller, write, onInFlight),
      ),
    );
  }
}
