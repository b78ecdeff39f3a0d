import type { AddressInfo, Server } from "node:net";
import type { Logger } from "../../observability/logger.ts";
import { assert } from "../../primitives/assert.ts";
import type { Endpoint } from "../../primitives/endpoint.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { err, ok, type Result } from "../../primitives/result.ts";
import { isPath, type SocketPath } from "./unixSocket.ts";

/** A server that is open, wherever it listens. */
export interface OpenServer {
  /** Connections that are open now. */
  readonly connectionCount: number;
  /** Stops accepting connections, gives open work CLOSING_LIMIT_MS to finish, then cuts it. */
  close(): Promise<void>;
}

/** An open RPC endpoint on a port, over any protocol: the one in use, also when the settings said 0 for any free port. */
export interface RpcServer extends OpenServer, Endpoint {}

/** Where a server listens: a port, or a path for programs of this machine. */
export type ListenAddress = Endpoint | SocketPath;

export type ServerErrorCode = "addressInUse" | "cannotListen";

/** Waits until the server listens; an error when the operating system refuses. */
export async function listening(
  listen: () => Promise<unknown>,
  address: ListenAddress,
): Promise<Result<void, ServerErrorCode>> {
  const place = isPath(address) ? address.path : `${address.host}:${address.port}`;
  try {
    await listen();
    return ok(undefined);
  } catch (error) {
    const isBusy = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    return err({
      code: isBusy ? "addressInUse" : "cannotListen",
      fault: "local",
      message: isBusy
        ? `${place} is in use by another program`
        : `cannot listen on ${place}: ${messageOf(error)}`,
      facts: isPath(address) ? { path: address.path } : { host: address.host, port: address.port },
    });
  }
}

/** Resolves when the server listens, rejects when it cannot. */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Like `listen`, on a socket that listens already and belongs to the server from now on. */
export function listenOn(server: Server, fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ fd }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/**
 * Logs at most once a minute that connections are refused. The server drops its own silently; call the returned function
 * for each other refused connection. `option` is the command-line option that sets the limit.
 */
export function logRefusedConnections(
  server: Server,
  { limit, option }: { readonly limit: number; readonly option: string | undefined },
  logger: Logger,
): (remoteAddress: string | undefined) => void {
  let refused = 0;
  let quietUntilMs = 0;
  function logRefused(newest: string | undefined): void {
    refused++;
    const nowMs = performance.now();
    if (nowMs < quietUntilMs) return;
    quietUntilMs = nowMs + 60_000;
    logger.warn(
      { newest, refused, limit },
      `connections are refused: ${limit} are open, which is the limit${option === undefined ? "" : ` (${option}, and the open files allowed)`}`,
    );
    refused = 0;
  }
  server.on("drop", (connection) => logRefused(connection?.remoteAddress));
  // Without a free file descriptor even refusing a connection can fail, which is only logged.
  server.on("error", (error) => logger.warn({ error }, "a connection could not be accepted"));
  return logRefused;
}

/** The port of a listening server. */
export function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  assert(typeof address === "object" && address !== null, "a listening server has a port");
  return address.port;
}

export interface OpenConnections {
  readonly count: number;
  /**
   * Cuts connections on which nothing was received yet. Browsers open such connections in advance; a closing server takes
   * them for busy ones and would wait.
   */
  cutSilent(): void;
}
