import { createServer, type Socket } from "node:net";
import type { Endpoint } from "../primitives/endpoint.ts";
import { fail, ok, type Result } from "../primitives/result.ts";

/** The port that peers connect to. */
export interface Listener {
  readonly endpoint: Endpoint;
  /** Reports accepted sockets, and errors of the port, from now on; earlier sockets are closed. */
  begin(events: ListenerEvents): void;
  /** Stops accepting; resolves when all accepted sockets are closed. */
  close(): Promise<void>;
}

interface ListenerEvents {
  readonly accepted: (socket: Socket) => void;
  readonly failed: (error: Error) => void;
}

/** Listens on the address; port 0 picks any free port. Fails when listening is impossible. */
export function listen({ host, port }: Endpoint): Promise<Result<Listener, "addressInUse" | "cannotListen">> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", (error) => resolve(refusal({ host, port }, error)));
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      const address = server.address();
      const isBound = typeof address === "object" && address !== null;
      // A socket without an owner is never read to its end, and `close` would wait for it.
      let events: ListenerEvents = { accepted: (socket) => socket.destroy(), failed: () => undefined };
      server.on("connection", (socket) => events.accepted(socket));
      server.on("error", (error) => events.failed(error));
      resolve(
        ok({
          endpoint: { host, port: isBound ? address.port : port },
          begin(begun) {
            events = begun;
          },
          close: () => new Promise<void>((done) => server.close(() => done())),
        }),
      );
    });
  });
}

function refusal(
  { host, port }: Endpoint,
  error: NodeJS.ErrnoException,
): Result<never, "addressInUse" | "cannotListen"> {
  const isInUse = error.code === "EADDRINUSE";
  return fail(
    "local",
    isInUse ? "addressInUse" : "cannotListen",
    isInUse
      ? `Port ${port} on ${host} is in use by another program: choose another one with --p2p-port.`
      : `Cannot listen for peers on ${host}:${port}: ${error.message}`,
  );
}
