import type { IncomingMessage, ServerResponse } from "node:http";
import { ok, type Result } from "../../primitives/result.ts";
import { createLoginHandler } from "../access/loginRequests.ts";
import { memoized } from "../memoized.ts";
import { createForeignRule, type ForeignRule, type TrustSettings } from "./foreignPages.ts";
import { respondHostRefused } from "./hostRefusal.ts";
import { respondRefusal } from "./httpResponse.ts";
import { Listener, type ListenerParts, type PortSettings } from "./listener.ts";
import { logRefusal } from "./refusalLog.ts";
import type { RpcServer, ServerErrorCode } from "./server.ts";
import type { UpgradeParts, UpgradeSettings } from "./upgrades.ts";

/**
 * JSON-RPC and subscriptions over WebSocket, on a port of its own, under any path
 * (json-rpc-errors.md#websocket). Requests other than upgrades get a text that says so. There is no CORS here: any page
 * may connect, but a page of a foreign origin gets no method that changes the node during the whole connection.
 */
export interface WebSocketSettings extends PortSettings, TrustSettings, UpgradeSettings {}

export interface WebSocketParts extends UpgradeParts, ListenerParts {
  /** The settings of now, of which lists of hosts and origins are asked for each request; those of the start if not given. */
  readonly current?: (() => WebSocketSettings) | undefined;
}

export async function openWebSocketServer(
  settings: WebSocketSettings,
  parts: WebSocketParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const listener = new Listener({ ...settings, limitOption: "--rpc-ws-max-active-connections" }, parts);
  const isForeign = memoized(parts.current ?? (() => settings), createForeignRule);
  const login = createProgramLogin(isForeign, parts);
  listener.onRequest(
    (request, response) => {
      if (isLogin(request)) login(request, response);
      else respondRefusal(response, 400, "Websocket endpoint can't handle HTTP requests");
    },
    (_request, response, check) => respondHostRefused(response, check),
  );
  const upgraded = listener.onUpgrade(settings, parts, {
    judgePage: ({ headers }) => (isForeign()(headers) ? "foreign" : "own"),
  });
  const opened = await listener.open();
  if (!opened.ok) return opened;
  return ok({
    ...opened.value,
    get connectionCount() {
      return upgraded.count;
    },
  });
}

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

function isLogin({ method, url }: IncomingMessage): boolean {
  return method === "POST" && url?.split("?", 1)[0] === "/login";
}

/** Log-ins, save those of foreign pages, which cannot read the answer, but could use up their viewer's attempts. */
function createProgramLogin(
  isForeign: () => ForeignRule,
  parts: Pick<WebSocketParts, "gate" | "logger" | "metrics">,
): RequestHandler {
  const login = createLoginHandler(parts);
  return (request, response) => {
    if (!isForeign()(request.headers)) return login(request, response);
    parts.metrics?.rejected("origin");
    logRefusal(parts.logger, "log-in of a foreign page", request.socket.remoteAddress);
    respondRefusal(response, 403, "");
  };
}
