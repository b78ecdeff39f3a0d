import { createServer, connect as openSocket, type Server, type Socket } from "node:net";
import { freePort } from "./nodeProcess.ts";

/**
 * Connections between nodes that a test can cut: for each direction of each pair a port of its own, behind which is the other
 * node. What is cut is closed, and refused until it is whole again, as by a firewall that answers.
 */
export interface Links {
  /** The port at which `from` calls the node that listens on `port` and is named `to`. */
  portFor(from: string, to: string, port: number): Promise<number>;
  /** Cuts all links between the two groups, in both directions; those cut before are whole again. */
  cut(one: readonly string[], other: readonly string[]): void;
  heal(): void;
  close(): void;
}

interface Link {
  readonly server: Server;
  readonly sockets: Set<Socket>;
}

export function createLinks(): Links {
  const links = new Map<string, Link>();
  let parted: readonly [readonly string[], readonly string[]] = [[], []];

  function isCut(from: string, to: string): boolean {
    const [one, other] = parted;
    return (one.includes(from) && other.includes(to)) || (one.includes(to) && other.includes(from));
  }

  function carry(from: string, to: string, port: number, sockets: Set<Socket>): (caller: Socket) => void {
    return (caller) => {
      if (isCut(from, to)) {
        caller.destroy();
        return;
      }
      const called = openSocket({ host: "127.0.0.1", port });
      for (const [socket, twin] of [
        [caller, called],
        [called, caller],
      ] as const) {
        sockets.add(socket);
        socket.on("error", () => undefined);
        socket.on("close", () => {
          sockets.delete(socket);
          twin.destroy();
        });
        socket.pipe(twin);
      }
    };
  }

  return {
    async portFor(from, to, port) {
      const at = await freePort();
      const sockets = new Set<Socket>();
      const server = createServer(carry(from, to, port, sockets));
      await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve));
      links.set(`${from} ${to}`, { server, sockets });
      return at;
    },
    cut(one, other) {
      parted = [one, other];
      for (const [name, { sockets }] of links) {
        const [from = "", to = ""] = name.split(" ");
        if (isCut(from, to)) for (const socket of sockets) socket.destroy();
      }
    },
    heal() {
      parted = [[], []];
    },
    close() {
      for (const { server, sockets } of links.values()) {
        server.close();
        for (const socket of sockets) socket.destroy();
      }
    },
  };
}
