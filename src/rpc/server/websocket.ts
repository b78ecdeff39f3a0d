import type { IncomingMessage, ServerResponse } from "node:http";
import { ok, type Result } from "../../primitives/result.ts";
import { createLoginHandler } from "../access/loginRequests.ts";
import { remade } from "../remade.ts";
import { createForeignRule, type ForeignRule } from "./foreignPages.ts";
import { respondHostRefused } from "./hostRefusal.ts";
import { respondRefusal } from "./httpResponse.ts";
import { Listener, type ListenerSettings } from "./listener.ts";
import { logRefusal } from "./refusalLog.ts";
import type { RpcServer, ServerAccess, ServerErrorCode } from "./server.ts";
import type { HandshakeParts } from "./tls/handshakes.ts";
import type { UpgradeParts, UpgradeSettings } from "./upgrades.ts";

/**
 * JSON-RPC and subscriptions over WebSocket, on a port of its own, under any path
 * (json-rpc-errors.md#websocket). Requests other than upgrades get a text that says so. There is no CORS here: any page
 * may connect, but a page of a foreign origin gets no method that changes the node during the whole connection.
 */
export interface WebSocketSettings
  extends Omit<ListenerSettings, "allowedHosts" | "limitOption">,
    ServerAccess,
    UpgradeSettings {
  /** Replaces the lists of these settings; asked for each request. */
  readonly access?: (() => ServerAccess) | undefined;
}

export interface WebSocketParts extends UpgradeParts, HandshakeParts {}

export async function openWebSocketServer(
  settings: WebSocketSettings,
  parts: WebSocketParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const listener = new Listener(
    {
      ...settings,
      allowedHosts: () => (settings.access?.() ?? settings).allowedHosts,
      limitOption: "--rpc-ws-max-active-connections",
    },
    parts,
  );
  const login = createProgramLogin(settings, parts);
  listener.onRequest(
    (request, response) => {
      if (isLogin(request)) login(request, response);
      else respondRefusal(response, 400, "Websocket endpoint can't handle HTTP requests");
    },
    (_request, response, check) => respondHostRefused(response, check),
  );
  const isForeign = foreignRuleOf(settings);
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

type AccessSettings = Pick<WebSocketSettings, "access" | keyof ServerAccess>;

function foreignRuleOf(settings: AccessSettings): () => ForeignRule {
  return remade(
    () => settings.access?.() ?? settings,
    ({ trustedOrigins, allowedHosts }) => createForeignRule(trustedOrigins, allowedHosts),
  );
}

/** Log-ins, save those of foreign pages, which cannot read the answer, but could use up their viewer's attempts. */
function createProgramLogin(
  settings: AccessSettings,
  parts: Pick<WebSocketParts, "gate" | "logger" | "metrics">,
): RequestHandler {
  const isForeign = foreignRuleOf(settings);
  const login = createLoginHandler(parts);
  return (request, response) => {
    if (!isForeign()(request.headers)) return login(request, response);
    parts.metrics?.rejected("origin");
    logRefusal(parts.logger, "log-in of a foreign page", request.socket.remoteAddress);
    respondRefusal(response, 403, "");
  };
}
