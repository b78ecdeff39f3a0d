import { createServer, type Server, type Socket } from "node:net";
import type { Logger } from "../../observability/logger.ts";
import type { Clock } from "../../primitives/clock.ts";
import { ok, type Result } from "../../primitives/result.ts";
import type { Dispatcher } from "../dispatcher.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import { type AcceptBalance, type ListeningSocket, openBalance } from "./acceptBalance.ts";
import type { CallerTime } from "./callerTime.ts";
import {
  type ConnectionLimits,
  type LimitedConnections,
  limitConnections,
  type SharedConnections,
} from "./connectionLimits.ts";
import { IPC_HOST, IPC_TIMES, type IpcTimes, IpcTransport } from "./ipcTransport.ts";
import { CLOSING_LIMIT_MS } from "./limits.ts";
import { MessageConnection } from "./messageConnection.ts";
import type { MessageReader } from "./messageReader.ts";
import { listening, listenOn, type OpenServer, type ServerErrorCode } from "./server.ts";
import type { SocketPath } from "./unixSocket.ts";
import type { UnreadLimits } from "./unreadLimits.ts";

/** What an operator sets of JSON-RPC over a Unix socket, and its limits. */
export interface IpcSettings extends SocketPath, ConnectionLimits {
  /** Time after which long queries stop. */
  readonly timeoutMs: number;
}

export interface IpcParts extends SharedConnections {
  /** A socket that listens at the path. */
  readonly socket: ListeningSocket;
  readonly dispatcher: Dispatcher;
  readonly reader: MessageReader;
  readonly callerTime: CallerTime;
  readonly clock: Clock;
  /** Bounds what all clients of this thread leave unread. */
  readonly unread: UnreadLimits;
  readonly logger: Logger;
  readonly metrics?: RpcMetrics | undefined;
  /** For tests; IPC_TIMES if not given. */
  readonly times?: IpcTimes | undefined;
}

/**
 * JSON-RPC and subscriptions over a Unix socket (json-rpc-errors.md#ipc). Who may connect is a matter of the file's rights: there
 * are no tokens, hosts and origins, and all callers are one for the shares of time and room, which leave others theirs.
 *
 *   connections: bounded (connectionLimits.ts) ─> JSON texts: bounded, timed (ipcTransport.ts) ─> messageConnection.ts
 */
export async function openIpcServer(
  settings: IpcSettings,
  parts: IpcParts,
): Promise<Result<OpenServer, ServerErrorCode>> {
  const server = new IpcServer(settings, parts);
  const listened = await listening(() => server.listen(), settings);
  return listened.ok ? ok(server) : listened;
}

class IpcServer implements OpenServer {
  private readonly settings: IpcSettings;
  private readonly parts: IpcParts;
  /** Half open, so that a client that only sends no more gets its answers. */
  private readonly server: Server = createServer({ allowHalfOpen: true });
  private readonly limited: LimitedConnections;
  private readonly connections = new Set<MessageConnection>();
  private balance: AcceptBalance | undefined;

  constructor(settings: IpcSettings, parts: IpcParts) {
    const { metrics } = parts;
    this.settings = settings;
    this.parts = parts;
    this.limited = limitConnections(this.server, settings, {
      ...parts,
      option: undefined,
      onRefused: () => metrics?.rejected("connections"),
      isTls: false,
    });
    this.server.on("connection", (stream) => this.serve(stream));
  }

  async listen(): Promise<void> {
    const { server, parts, limited } = this;
    await listenOn(server, parts.socket.descriptor);
    this.balance = openBalance(server, parts, limited);
  }

  get connectionCount(): number {
    return this.limited.count;
  }

  async close(): Promise<void> {
    const { server, connections } = this;
    this.balance?.stop();
    this.limited.cutSilent();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of connections) connection.finish();
    const cut = setTimeout(() => {
      for (const connection of connections) connection.cut();
    }, CLOSING_LIMIT_MS);
    await closed;
    clearTimeout(cut);
  }

  private serve(stream: Socket): void {
    const { clock, callerTime, logger, unread, times = IPC_TIMES } = this.parts;
    stream.on("error", ({ message: reason }) => logger.often("debug", "IPC broke", () => ({ reason })));
    // One that was refused.
    if (stream.destroyed) return;
    const transport = new IpcTransport(stream, { clock, times, callerTime });
    const connection = new MessageConnection(transport, {
      ...this.parts,
      timeoutMs: this.settings.timeoutMs,
      remoteHost: IPC_HOST,
      isForeignPage: false,
    });
    this.connections.add(connection);
    unread.add(connection);
    stream.once("data", () => this.limited.keep(stream));
    transport.start(connection);
    logger.often("debug", "IPC opened", () => ({ open: this.connections.size }));
    connection.onClose(() => {
      this.connections.delete(connection);
      logger.often("debug", "IPC closed", () => ({ open: this.connections.size }));
    });
  }
}
