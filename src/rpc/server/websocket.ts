import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { ok, type Result } from "../../primitives/result.ts";
import { createLoginHandler } from "../access/loginRequests.ts";
import { remade } from "../remade.ts";
import { type ListeningSocket, openBalance } from "./acceptBalance.ts";
import { type ConnectionLimits, limitConnections } from "./connectionLimits.ts";
import { createForeignRule, type ForeignRule } from "./foreignPages.ts";
import { createHostAllowlist, type HostCheck } from "./hostAllowlist.ts";
import { createHostRefusalLog, respondHostRefused } from "./hostRefusal.ts";
import { respondRefusal } from "./httpResponse.ts";
import { ARRIVAL_LIMIT_MS, ARRIVAL_TIMES } from "./limits.ts";
import { logRefusal } from "./refusalLog.ts";
import {
  listen,
  listening,
  listenOn,
  portOf,
  type RpcServer,
  type ServerAccess,
  type ServerErrorCode,
} from "./server.ts";
import { guardServer, serverOptions } from "./tls/guardServer.ts";
import type { HandshakeParts } from "./tls/handshakes.ts";
import type { TlsRules } from "./tls/tlsRules.ts";
import { serveUpgrades, type UpgradeParts, type UpgradeSettings } from "./upgrades.ts";

/**
 * JSON-RPC and subscriptions over WebSocket, on a port of its own, under any path
 * (json-rpc-errors.md#websocket). Requests other than upgrades get a text that says so. There is no CORS here: any page
 * may connect, but a page of a foreign origin gets no method that changes the node during the whole connection.
 */
export interface WebSocketSettings extends ConnectionLimits, ServerAccess, UpgradeSettings {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** A socket that listens there already (node/rpcThreads/sharedListener.ts). */
  readonly socket?: ListeningSocket | undefined;
  /** Encrypts connections by the rules of the moment. */
  readonly tls?: (() => TlsRules) | undefined;
  /** Replaces the lists of these settings; asked for each request. */
  readonly access?: (() => ServerAccess) | undefined;
}

export interface WebSocketParts extends UpgradeParts, HandshakeParts {}

export async function openWebSocketServer(
  settings: WebSocketSettings,
  parts: WebSocketParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const { host, port, socket, tls, arrivalTimes = ARRIVAL_TIMES } = settings;
  const { logger, metrics } = parts;
  const options = {
    requireHostHeader: false,
    requestTimeout: ARRIVAL_LIMIT_MS,
    headersTimeout: arrivalTimes.headersMs,
    connectionsCheckingInterval: arrivalTimes.checkMs,
  };
  const server =
    tls === undefined
      ? createHttpServer(options)
      : createHttpsServer({ ...options, ...serverOptions(tls()) });
  const handshakes = guardServer(server, settings, parts);
  const connections = limitConnections(server, settings, {
    option: "--rpc-ws-max-active-connections",
    logger,
    onRefused: () => metrics?.rejected("connections"),
    isTls: tls !== undefined,
  });
  const checkHost = remade(
    () => settings.access?.() ?? settings,
    ({ allowedHosts }) => createHostAllowlist(allowedHosts),
  );
  const logHostRefusal = createHostRefusalLog(logger);
  const checkCounted: CheckHost = (request) => {
    const result = checkHost()(request.headers.host);
    if (result === "allowed") return result;
    metrics?.rejected("host");
    logHostRefusal(request);
    return result;
  };
  server.on("request", createPlainRequestHandler(checkCounted, createProgramLogin(settings, parts)));
  const isForeign = foreignRuleOf(settings);
  const upgraded = serveUpgrades(server, settings, parts, {
    checkHost: checkCounted,
    judgePage: ({ headers }) => (isForeign()(headers) ? "foreign" : "own"),
    connections,
  });

  const begin = (): Promise<void> =>
    socket === undefined ? listen(server, host, port) : listenOn(server, socket.descriptor);
  const listened = await listening(begin, host, port);
  if (!listened.ok) {
    upgraded.stop();
    return listened;
  }
  const balance = openBalance(server, settings, connections);
  return ok({
    host,
    port: portOf(server),
    get connectionCount() {
      return upgraded.count;
    },
    close: () => {
      upgraded.stop();
      balance?.stop();
      handshakes.cut();
      connections.cutSilent();
      return upgraded.closeServer();
    },
  });
}

type CheckHost = (request: IncomingMessage) => HostCheck;

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers requests that are no upgrades: log-ins, and others that are mistaken here. */
function createPlainRequestHandler(checkHost: CheckHost, login: RequestHandler): RequestHandler {
  return (request, response) => {
    response.sendDate = false;
    const hostCheck = checkHost(request);
    const isLogin = request.method === "POST" && request.url?.split("?", 1)[0] === "/login";
    if (hostCheck === "allowed" && isLogin) login(request, response);
    else if (hostCheck === "allowed")
      respondRefusal(response, 400, "Websocket endpoint can't handle HTTP requests");
    else respondHostRefused(response, hostCheck);
  };
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
