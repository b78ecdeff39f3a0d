import type { AddressInfo, Server, Socket } from "node:net";
import type { Logger } from "../../observability/logger.ts";
import { assert } from "../../primitives/assert.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { err, ok, type Result } from "../../primitives/result.ts";

/** An open port, whatever is spoken there. */
export interface RpcServer {
  readonly host: string;
  /** The real one, when port 0 asked for any. */
  readonly port: number;
  /** Those that are open now. */
  readonly connectionCount: number;
  /** Lets nobody in any more, gives open work CLOSING_LIMIT_MS to end, then cuts it. */
  close(): Promise<void>;
}

export type ServerErrorCode = "addressInUse" | "cannotListen";

/** Waits until the server listens; a refusal when the operating system does not let it. */
export async function listening(
  listen: () => Promise<unknown>,
  host: string,
  port: number,
): Promise<Result<void, ServerErrorCode>> {
  try {
    await listen();
    return ok(undefined);
  } catch (error) {
    const isBusy = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    return err({
      code: isBusy ? "addressInUse" : "cannotListen",
      fault: "local",
      message: isBusy
        ? `${host}:${port} is in use by another program`
        : `cannot listen on ${host}:${port}: ${messageOf(error)}`,
      facts: { host, port },
    });
  }
}

/** Settles as the operating system decides. */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/**
 * Says that connections are turned away, at most once a minute: the server itself closes them without a word; what is
 * returned is told of others. `option` is what an operator can change.
 */
export function logTurnedAway(
  server: Server,
  { limit, option }: { readonly limit: number; readonly option: string },
  logger: Logger,
): (remoteAddress: string | undefined) => void {
  let turnedAway = 0;
  let quietUntilMs = 0;
  function tell(newest: string | undefined): void {
    turnedAway++;
    const nowMs = performance.now();
    if (nowMs < quietUntilMs) return;
    quietUntilMs = nowMs + 60_000;
    logger.warn(
      { newest, turnedAway, limit },
      `connections are turned away: ${limit} are open, which is the limit (${option}, and the open files allowed)`,
    );
    turnedAway = 0;
  }
  server.on("drop", (connection) => tell(connection?.remoteAddress));
  // With no descriptor left even turning away may fail; that is told the same way, and costs nothing else.
  server.on("error", (error) => logger.warn({ error }, "a connection could not be accepted"));
  return tell;
}

/** Port that a listening server got. */
export function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  assert(typeof address === "object" && address !== null, "a listening server has a port");
  return address.port;
}

export interface OpenConnections {
  readonly count: number;
  /**
   * Cuts those on which nobody has said anything yet, which browsers open in advance: a closing server takes them for
   * busy ones and would wait.
   */
  cutSilent(): void;
}

/** Knows a server's connections. */
export function trackConnections(server: Server): OpenConnections {
  const connections = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  return {
    get count() {
      return connections.size;
    },
    cutSilent() {
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}
