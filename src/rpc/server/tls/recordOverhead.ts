import type { Server } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { durationClock } from "../../../primitives/clock.ts";
import { OVERHEAD_CHECK_MS } from "./handshakeLimits.ts";
import { createOverheadTime, UnexplainedBytes } from "./overheadRules.ts";

/** A connection whose handshake is done. */
export interface SecureConnection {
  /** Counts the bytes of the network. */
  readonly socket: Socket;
  /** Counts those of the content. */
  readonly secure: TLSSocket;
  readonly remoteHost: string;
  /** Who answers for it: the remote host, or behind a proxy the connection alone. */
  readonly account: string;
}

export interface OverheadLimit {
  watch(connection: SecureConnection): void;
}

/**
 * Finds connections whose clients send messages of TLS itself instead of content. OpenSSL answers any number of them, up to 512 KB
 * of one connection in one turn of the thread, which takes 0.27 s; and it tells nobody. So all connections of a host have one
 * account: those that go on after it is empty end, and the host pays for what they took by the time it is shut out.
 */
export function limitOverhead(
  server: Server,
  onExceeded: (connection: SecureConnection, waitMs: number) => void,
): OverheadLimit {
  const watched = new Map<SecureConnection, UnexplainedBytes>();
  const time = createOverheadTime(durationClock);
  function charge(connection: SecureConnection, bytes: number): void {
    const waitMs = time.spend(connection.account, bytes);
    if (bytes <= 0 || waitMs === 0) return;
    watched.delete(connection);
    onExceeded(connection, waitMs);
  }
  const check = setInterval(() => {
    for (const [connection, unexplained] of watched) {
      const { socket, secure } = connection;
      charge(connection, unexplained.count(socket.bytesRead, secure.bytesRead, time.freeBytes));
    }
  }, OVERHEAD_CHECK_MS).unref();
  server.on("close", () => clearInterval(check));
  return {
    watch(connection) {
      const { socket, secure } = connection;
      const unexplained = new UnexplainedBytes(socket.bytesRead, secure.bytesRead);
      watched.set(connection, unexplained);
      secure.once("close", () => {
        if (!watched.has(connection)) return;
        const bytes = unexplained.count(socket.bytesRead, secure.bytesRead, 0);
        watched.delete(connection);
        charge(connection, bytes);
      });
    },
  };
}
