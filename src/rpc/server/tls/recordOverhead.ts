import type { Server } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { durationClock } from "../../../primitives/clock.ts";
import { OVERHEAD_CHECK_MS } from "./handshakeLimits.ts";
import { OverheadTime, UnexplainedBytes } from "./overheadRules.ts";

/** A connection whose handshake is done. */
interface SecureConnection {
  /** Counts the bytes of the network. */
  readonly socket: Socket;
  /** Counts those of the content. */
  readonly secure: TLSSocket;
  readonly remoteHost: string;
  /** Who answers for it: the remote host, or behind a proxy the connection alone. */
  readonly account: string;
}

/**
 * Finds connections whose clients send messages of TLS itself instead of content. OpenSSL answers any number of them, up to 512 KB
 * of one connection in one turn of the thread, which takes 0.27 s; and it tells nobody. So all connections of a host have one
 * account: those that go on after it is empty end, and the host pays for what they took by the time it is shut out.
 */
export class OverheadLimit {
  private readonly onExceeded: (connection: SecureConnection, waitMs: number) => void;
  private readonly watched = new Map<SecureConnection, UnexplainedBytes>();
  private readonly time = new OverheadTime(durationClock);

  constructor(server: Server, onExceeded: (connection: SecureConnection, waitMs: number) => void) {
    this.onExceeded = onExceeded;
    const check = setInterval(() => this.chargeAll(), OVERHEAD_CHECK_MS).unref();
    server.on("close", () => clearInterval(check));
  }

  watch(connection: SecureConnection): void {
    const { socket, secure } = connection;
    const unexplained = new UnexplainedBytes(socket.bytesRead, secure.bytesRead);
    this.watched.set(connection, unexplained);
    secure.once("close", () => {
      if (!this.watched.has(connection)) return;
      const bytes = unexplained.count(socket.bytesRead, secure.bytesRead, 0);
      this.watched.delete(connection);
      this.charge(connection, bytes);
    });
  }

  private chargeAll(): void {
    for (const [connection, unexplained] of this.watched) {
      const { socket, secure } = connection;
      this.charge(connection, unexplained.count(socket.bytesRead, secure.bytesRead, this.time.freeBytes));
    }
  }

  private charge(connection: SecureConnection, bytes: number): void {
    const waitMs = this.time.spend(connection.account, bytes);
    if (bytes <= 0 || waitMs === 0) return;
    this.watched.delete(connection);
    this.onExceeded(connection, waitMs);
  }
}
