import type { IncomingMessage, ServerResponse } from "node:http";
import type { FaucetTerms, GiftAnswer, GiftRequest, Refusal } from "../faucet/gift.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { readBody } from "../rpc/server/httpBody.ts";
import { respondJson } from "../rpc/server/httpResponse.ts";
import type { HostRule } from "../rpc/server/remoteHost.ts";

/** The only path of the faucet: GET returns its terms, POST of `{"address":"0x…"}` requests a gift. */
export const FAUCET_PATH = "/api/faucet";

export interface FaucetServer {
  readonly terms: FaucetTerms;
  /** "busy" when too many requests wait for the main thread. */
  give(request: GiftRequest): Promise<GiftAnswer | "busy">;
  readonly hostOf: HostRule;
}

/** Most bytes of a body: an address in JSON has 60. */
const BODY_BYTES = 1024;

/** Answers a request of this port's own page, or of a program. */
export function answerFaucet(server: FaucetServer, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== "POST") {
    const { amountWei, dailyLimitWei, addressCooldownMs, hostCooldownMs } = server.terms;
    respond(response, 200, {
      amount: toQuantity(amountWei),
      dailyLimit: toQuantity(dailyLimitWei),
      addressCooldownSeconds: addressCooldownMs / 1000,
      hostCooldownSeconds: hostCooldownMs / 1000,
    });
    return;
  }
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) {
    respond(response, 415, { reason: "badRequest", message: "Content-Type must be application/json." });
    return;
  }
  const remoteHost = server.hostOf(request);
  readBody(request, BODY_BYTES, (body) => {
    const address = addressIn(body);
    if (address === undefined) {
      respond(response, 400, {
        reason: "badRequest",
        message: 'A JSON object is expected: {"address":"0x…"}.',
      });
      return;
    }
    server.give({ address, remoteHost }).then(
      (answer) => respondAnswer(response, answer),
      () =>
        respond(response, 503, { reason: "notAccepted", message: "The faucet cannot give anything now." }),
    );
  });
}

/** The text of the member `address`. */
function addressIn(body: string | undefined): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body ?? "");
    if (typeof parsed !== "object" || parsed === null || !("address" in parsed)) return undefined;
    return typeof parsed.address === "string" ? parsed.address : undefined;
  } catch {
    return undefined;
  }
}

const STATUS: Readonly<Record<Refusal, number>> = {
  badAddress: 400,
  addressCooldown: 429,
  hostCooldown: 429,
  dailyLimit: 429,
  busy: 503,
  empty: 503,
  notAccepted: 503,
};

function respondAnswer(response: ServerResponse, answer: GiftAnswer | "busy"): void {
  if (answer === "busy") {
    respond(response, 503, { reason: "busy", message: "There are too many requests at once." });
    return;
  }
  if (answer.kind === "given") {
    const { transactionHash, amountWei } = answer;
    respond(response, 200, { transactionHash, amount: toQuantity(amountWei) });
    return;
  }
  const { reason, message, retryAfterSeconds } = answer;
  if (retryAfterSeconds !== undefined) response.setHeader("Retry-After", retryAfterSeconds);
  respond(response, STATUS[reason], { reason, message, retryAfterSeconds });
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("X-Content-Type-Options", "nosniff");
  respondJson(response, status, JSON.stringify(body));
}
