import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../observability/logger.ts";
import { isObject } from "../parameters/parameters.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import { acceptsJson } from "../server/accept.ts";
import { readBody } from "../server/httpBody.ts";
import { respondJson, respondNoAuthentication, respondUntyped } from "../server/httpResponse.ts";
import { parseMessage } from "../server/parseMessage.ts";
import { logRefusal } from "../server/refusalLog.ts";
import { remoteHostOf } from "../server/remoteHost.ts";
import type { Gate } from "./gate.ts";
import { LOGIN_BODY_BYTES } from "./limits.ts";
import type { LoginAnswer } from "./login.ts";

interface LoginRequestParts {
  /** Undefined without authentication. */
  readonly gate?: Pick<Gate, "login"> | undefined;
  readonly logger: Logger;
  readonly metrics?: RpcMetrics | undefined;
}

/** Answers POST /login (json-rpc-errors.md#authentication), on each port that has tokens. */
export function createLoginHandler({
  gate,
  logger,
  metrics,
}: LoginRequestParts): (request: IncomingMessage, response: ServerResponse) => void {
  const login = gate?.login;

  function refuse(response: ServerResponse, status: number, text: string, reason: string): void {
    logRefusal(logger, reason, response.req.socket.remoteAddress);
    respondUntyped(response, status, text);
  }

  function answer(response: ServerResponse, answered: LoginAnswer): void {
    if (answered === "wrong") {
      metrics?.rejected("login");
      refuse(response, 401, "Authentication failed: the username or password is incorrect.", "wrong log-in");
    } else if (answered === "busy") {
      metrics?.rejected("logins");
      response.setHeader("Retry-After", "10");
      refuse(response, 429, "Too many log-ins. Try again later.", "too many log-ins");
    } else respondJson(response, 200, JSON.stringify(answered));
  }

  return (request, response) => {
    if (!acceptsJson(request.headers.accept)) return refuse(response, 406, "", "JSON not accepted");
    if (login === undefined) return respondNoAuthentication(response);
    readBody(request, LOGIN_BODY_BYTES, (body) => {
      if (body === undefined) {
        metrics?.rejected("body");
        return refuse(response, 413, "Request Entity Too Large", "body too large");
      }
      const value = parseMessage(body);
      const { username: name, password } = isObject(value) ? value : {};
      if (typeof name !== "string" || typeof password !== "string")
        return refuse(
          response,
          400,
          "Authentication failed: username and password are required.",
          "log-in without name and password",
        );
      const remoteHost = remoteHostOf(request.socket.remoteAddress);
      login({ name, password, remoteHost }).then(
        (answered) => answer(response, answered),
        (error: unknown) => {
          logger.error({ error }, "a login could not be checked");
          response.destroy();
        },
      );
    });
  };
}
