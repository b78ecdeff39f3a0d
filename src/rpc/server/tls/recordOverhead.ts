import type { Server } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { OVERHEAD_BYTES, OVERHEAD_CHECK_MS, OVERHEAD_PER_CONTENT } from "./handshakeLimits.ts";

/** A connection whose handshake is done. */
export interface SecureConnection {
  /** Counts the bytes of the network. */
  readonly socket: Socket;
  /** Counts those of the content. */
  readonly secure: TLSSocket;
  readonly remoteHost: string;
}

export interface OverheadLimit {
  watch(connection: SecureConnection): void;
}

/**
 * Finds connections whose clients send messages of TLS itself instead of content. OpenSSL answers any number of them: a request
 * for new keys (KeyUpdate) has 27 bytes and takes the thread 14 µs. Records of a single byte are no better.
 */
export function limitOverhead(
  server: Server,
  onExceeded: (connection: SecureConnection) => void,
): OverheadLimit {
  const watched = new Map<SecureConnection, number>();
  const check = setInterval(() => {
    for (const [connection, handshakeBytes] of watched) {
      const content = connection.secure.bytesRead;
      const overhead = connection.socket.bytesRead - handshakeBytes - content;
      if (overhead <= OVERHEAD_BYTES + OVERHEAD_PER_CONTENT * content) continue;
      watched.delete(connection);
      onExceeded(connection);
    }
  }, OVERHEAD_CHECK_MS).unref();
  server.on("close", () => clearInterval(check));
  return {
    watch(connection) {
      watched.set(connection, connection.socket.bytesRead);
      connection.secure.once("close", () => watched.delete(connection));
    },
  };
}
