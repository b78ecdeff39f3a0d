import { connect, createServer, type Server, type Socket } from "node:net";

/** A line of so many bits and so much delay, each way, in front of a port of this machine: a proxy over TCP. */
export interface SlowLink {
  readonly port: number;
  /** Cuts the connections that there are; others may follow. */
  cut(): void;
  close(): void;
  /** Connections so far. */
  readonly connections: number;
}

export interface Line {
  readonly bitsPerSecond: number;
  readonly delayMs: number;
}

/** Bytes beyond those on the way that a line takes before its sender has to wait: a router's buffer. */
const BUFFER_BYTES = 64 * 1024;

export async function openSlowLink(targetPort: number, line: Line): Promise<SlowLink> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server: Server = createServer((near) => {
    connections++;
    const far = connect({ host: "127.0.0.1", port: targetPort });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      carry(from, to, line);
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const address = server.address();
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cut,
    close() {
      server.close();
      cut();
    },
    get connections() {
      return connections;
    },
  };
}

/** Each byte leaves when the line is free, and arrives a delay later, in order. */
function carry(from: Socket, to: Socket, { bitsPerSecond, delayMs }: Line): void {
  const bytesPerMs = bitsPerSecond / 8_000;
  const room = bytesPerMs * delayMs + BUFFER_BYTES;
  const onTheWay: { readonly chunk: Buffer; readonly arrivesAtMs: number }[] = [];
  let bytesOnTheWay = 0;
  let freeAtMs = 0;
  let isEnded = false;

  function deliver(): void {
    for (let next = onTheWay[0]; next !== undefined; next = onTheWay[0]) {
      const waitMs = next.arrivesAtMs - performance.now();
      if (waitMs > 0) {
        setTimeout(deliver, waitMs);
        return;
      }
      onTheWay.shift();
      bytesOnTheWay -= next.chunk.length;
      to.write(next.chunk);
    }
    if (isEnded) to.end();
  }

  from.setNoDelay(true);
  from.on("data", (chunk: Buffer) => {
    freeAtMs = Math.max(freeAtMs, performance.now()) + chunk.length / bytesPerMs;
    onTheWay.push({ chunk, arrivesAtMs: freeAtMs + delayMs });
    bytesOnTheWay += chunk.length;
    if (onTheWay.length === 1) setTimeout(deliver, freeAtMs + delayMs - performance.now());
    if (bytesOnTheWay > room) {
      from.pause();
      // The line has sent what is beyond its room.
      setTimeout(() => from.resume(), (bytesOnTheWay - room) / bytesPerMs);
    }
  });
  from.on("end", () => {
    isEnded = true;
    if (onTheWay.length === 0) to.end();
  });
}
