import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Logger } from "../../observability/logger.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { type Gate, tokenOf } from "../access/gate.ts";
import type { Dispatcher } from "../dispatcher.ts";
import { CallerTime } from "./callerTime.ts";
import { GOING_AWAY } from "./closeCodes.ts";
import { endConnection, type LimitedConnections } from "./connectionLimits.ts";
import type { HostCheck } from "./hostAllowlist.ts";
import { FRAMES_PER_MESSAGE, HEARTBEAT_MS, TOKEN_CHECK_MS } from "./limits.ts";
import { type ConnectionParts, MessageConnection } from "./messageConnection.ts";
import type { MessageReader } from "./messageReader.ts";
import { textOf } from "./messageText.ts";
import { connectionHost, type HostRule } from "./remoteHost.ts";
import type { SharedTotals } from "./sharedTotals.ts";
import { UnreadLimits } from "./unreadLimits.ts";
import { WebSocketTransport } from "./websocketTransport.ts";

/** The WebSocket connections of an HTTP server, under any path. */
export interface UpgradedConnections {
  readonly count: number;
  /** Ends pings and checks, which a closing server does not need. */
  stop(): void;
  /** Asks all clients to close, as the server does. */
  leave(): void;
  /** Cuts the connections that are still open. */
  cut(): void;
}

export interface UpgradeSettings {
  /** A message may have FRAMES_PER_MESSAGE times as many bytes; a larger one ends the connection. */
  readonly maxFrameBytes: number;
  /** Time after which long queries stop. */
  readonly timeoutMs: number;
  /** Limit for the unread answers of all clients together; ALL_ANSWERS_BYTES if not given. */
  readonly unreadLimitBytes?: number;
}

export interface UpgradeParts {
  readonly dispatcher: Dispatcher;
  readonly reader: MessageReader;
  /** Absent where everybody may call. The token comes with the upgrade, and is checked again for each message. */
  readonly gate?: Gate | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What is held together with other threads; nothing is if not given. */
  readonly totals?: SharedTotals | undefined;
  /** Bounds what all clients of this thread leave unread; what those of this server do if not given. */
  readonly unread?: UnreadLimits | undefined;
  /** The time of this thread; that of this server alone if not given. */
  readonly callerTime?: CallerTime | undefined;
}

/** Who may upgrade a connection. */
export interface UpgradeGuard {
  readonly checkHost: (request: IncomingMessage) => HostCheck;
  /** What becomes of a page of a foreign origin: it is refused, or has fewer methods and connections. */
  readonly judgePage: (request: IncomingMessage) => "own" | "foreign" | "refused";
  readonly connections: LimitedConnections;
  /** Names a request's remote host; connectionHost if not given. */
  readonly hostOf?: HostRule;
}

/** Serves JSON-RPC on the connections of `server` that are upgraded to WebSockets. */
export function serveUpgrades(
  server: Server,
  settings: UpgradeSettings,
  parts: UpgradeParts,
  guard: UpgradeGuard,
): UpgradedConnections {
  const { clock } = parts;
  const served = new Map<MessageConnection, WebSocketTransport>();
  const upgrader = createUpgrader(settings);
  const { unread = new UnreadLimits(parts, settings.unreadLimitBytes) } = parts;
  const serve = createConnectionOpener(served, settings, { ...parts, unread });
  server.on("upgrade", createUpgradeHandler(upgrader, serve, guard));
  const heartbeat = repeat(clock, HEARTBEAT_MS, () => {
    for (const [connection, transport] of served) transport.heartbeat(connection);
  });
  const tokenChecks = repeat(clock, TOKEN_CHECK_MS, () => {
    if (parts.gate !== undefined) for (const connection of served.keys()) connection.endWithToken();
  });
  return {
    get count() {
      return served.size;
    },
    stop() {
      heartbeat.stop();
      tokenChecks.stop();
      if (parts.unread === undefined) unread.stop();
    },
    leave() {
      for (const socket of upgrader.clients) socket.close(GOING_AWAY);
    },
    cut() {
      for (const socket of upgrader.clients) socket.terminate();
    },
  };
}

function createUpgrader({ maxFrameBytes }: UpgradeSettings): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: maxFrameBytes * FRAMES_PER_MESSAGE,
    handleProtocols: (offered) => (offered.has(CLIENT_QUIRK) ? CLIENT_QUIRK : false),
  });
}

/** Sub-protocol that a widespread client library requests by mistake. */
const CLIENT_QUIRK = "undefined";

type ServeConnection = (
  socket: WebSocket,
  stream: Duplex,
  client: Pick<ConnectionParts, "remoteHost" | "isForeignPage" | "token">,
) => void;

/** Upgrades connections that pass the checks of host, origin and limits, and hands them to `serve`. */
function createUpgradeHandler(
  upgrader: WebSocketServer,
  serve: ServeConnection,
  { checkHost, judgePage, connections, hostOf = connectionHost }: UpgradeGuard,
): (request: IncomingMessage, stream: Duplex, head: Buffer) => void {
  return (request, stream, head) => {
    const hostCheck = checkHost(request);
    if (hostCheck !== "allowed") {
      refuseUpgrade(request.socket, hostCheck === "malformed" ? 400 : 403);
      return;
    }
    const page = judgePage(request);
    if (page === "refused") {
      refuseUpgrade(request.socket, 403);
      return;
    }
    const isForeignPage = page === "foreign";
    if (isForeignPage && !connections.admitsPage(request.socket)) {
      refuseUpgrade(request.socket, 503);
      return;
    }
    upgrader.handleUpgrade(request, stream, head, (socket) => {
      const remoteHost = hostOf(request);
      connections.keep(request.socket);
      serve(socket, stream, { remoteHost, isForeignPage, token: tokenOf(request) });
    });
  };
}

/** Serves connections, and keeps them in `served` until they close. */
function createConnectionOpener(
  served: Map<MessageConnection, WebSocketTransport>,
  { timeoutMs }: UpgradeSettings,
  {
    dispatcher,
    reader,
    gate,
    clock,
    logger,
    unread,
    callerTime = new CallerTime(),
  }: UpgradeParts & {
    readonly unread: UnreadLimits;
  },
): ServeConnection {
  const common = { dispatcher, reader, gate, clock, logger, callerTime, timeoutMs, unread };
  return (socket, stream, client) => {
    const transport = new WebSocketTransport(socket, stream);
    const connection = new MessageConnection(transport, { ...common, ...client });
    socket.on("message", (data) => connection.receive(textOf(data)));
    const { token: _secret, ...shown } = client;
    socket.on("error", ({ message: reason }) =>
      logger.often("debug", "WebSocket failed", () => ({ client: client.remoteHost, reason })),
    );
    served.set(connection, transport);
    unread.add(connection);
    logger.often("debug", "WebSocket opened", () => shown);
    connection.onClose(() => {
      served.delete(connection);
      logger.often("debug", "WebSocket closed", () => shown);
    });
  };
}

function refuseUpgrade(socket: Socket, status: number): void {
  // The HTTP server listens for errors no more.
  socket.on("error", () => socket.destroy());
  endConnection(socket, `${status} ${STATUS_CODES[status]}`);
}

function repeat(clock: Clock, periodMs: number, act: () => void): { stop(): void } {
  const next = (): Timer =>
    clock.at(clock.nowMs() + periodMs, () => {
      act();
      timer = next();
    });
  let timer = next();
  return { stop: () => timer.cancel() };
}
