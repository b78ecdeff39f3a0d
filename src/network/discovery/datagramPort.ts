import { createSocket } from "node:dgram";
import { isIPv4, isIPv6 } from "node:net";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { DatagramSource } from "./discovery.ts";

/** A UDP port. */
export interface DatagramPort {
  /** Sends a datagram. Like a loss on the way, a failure to send is not reported. */
  send(bytes: Uint8Array, to: DatagramSource): void;
  /** Passes each datagram to `receive` from now on. */
  begin(receive: (bytes: Uint8Array, from: DatagramSource) => void): void;
  close(): void;
}

/** Fails when the port cannot be bound. */
export function openDatagramPort({
  address: host,
  port,
}: DatagramSource): Promise<Result<DatagramPort, "addressInUse" | "cannotListen">> {
  const isSix = isIPv6(host);
  const socket = createSocket(isSix ? "udp6" : "udp4");
  let isClosed = false;
  return new Promise((resolve) => {
    socket.once("error", (error: NodeJS.ErrnoException) => {
      socket.close();
      const isInUse = error.code === "EADDRINUSE";
      resolve(
        fail(
          "local",
          isInUse ? "addressInUse" : "cannotListen",
          isInUse
            ? `UDP port ${port} on ${host} is in use by another program: choose another port with --p2p-port, or turn discovery off (--discovery-enabled=false).`
            : `Discovery cannot use UDP port ${port} on ${host}: ${error.message}`,
        ),
      );
    });
    socket.bind({ address: host, port }, () => {
      socket.removeAllListeners("error");
      // Errors are ignored, such as an ICMP message that a datagram did not arrive.
      socket.on("error", () => undefined);
      resolve(
        ok({
          send(bytes, to) {
            // An invalid port, or a closed socket, would throw.
            if (isClosed || to.port <= 0 || (!isSix && isIPv6(to.address))) return;
            const address = isSix && isIPv4(to.address) ? `::ffff:${to.address}` : to.address;
            socket.send(bytes, to.port, address, () => undefined);
          },
          begin: (receive) =>
            void socket.on("message", (bytes, { address, port: fromPort }) =>
              receive(bytes, { address, port: fromPort }),
            ),
          close() {
            isClosed = true;
            socket.close();
          },
        }),
      );
    });
  });
}
