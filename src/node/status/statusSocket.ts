import { chmodSync, closeSync, openSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { LONGEST_SOCKET_PATH, listenPrivately } from "../../rpc/server/unixSocket.ts";

/** File name of the socket in the data folder. */
const SOCKET_NAME = "status.sock";
/** Connections at a time; each is answered at once. */
const MOST_CONNECTIONS = 8;
/** A reader that takes the answer slower than this is left. */
const READ_LIMIT_MS = 5_000;
/** The answer is not made anew more often. */
const KEEP_MS = 200;

/**
 * Serves a text to the user that the node runs as, over a Unix socket in the data folder: each connection gets the text and is
 * closed. Nothing is read, so there is nothing to send wrongly. Call it with the database locked, because a socket that
 * another process left is replaced. Returns why it cannot be served, if so; the node does without.
 */
export async function openStatusSocket(
  dataPath: string,
  textOf: () => string,
): Promise<{ readonly close: () => void } | { readonly problem: string }> {
  const address = openAddress(dataPath);
  if (address === undefined) return { problem: `the path of ${dataPath} is too long for a Unix socket` };
  let kept = { text: "", atMs: Number.NEGATIVE_INFINITY };
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.setTimeout(READ_LIMIT_MS, () => socket.destroy());
    if (performance.now() - kept.atMs > KEEP_MS) kept = { text: textOf(), atMs: performance.now() };
    socket.resume();
    socket.end(kept.text);
  });
  server.maxConnections = MOST_CONNECTIONS;
  try {
    rmSync(address.path, { force: true });
    await listenPrivately(server, address.path);
    chmodSync(address.path, 0o600);
    server.on("error", () => undefined);
  } catch (error) {
    server.close();
    address.close();
    return { problem: error instanceof Error ? error.message : String(error) };
  }
  server.unref();
  return {
    close() {
      server.close();
      rmSync(address.path, { force: true });
      address.close();
    },
  };
}

interface SocketAddress {
  /** A path of the socket that is short enough. */
  readonly path: string;
  /** Call it when the path is used no more. */
  close(): void;
}

/**
 * The path of the socket of a data folder. One that is too long is named by way of the open folder, which Linux allows;
 * undefined elsewhere. Throws when the folder cannot be opened.
 */
export function openAddress(dataPath: string): SocketAddress | undefined {
  const path = join(resolve(dataPath), SOCKET_NAME);
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return { path, close: () => undefined };
  if (process.platform !== "linux") return undefined;
  const folder = openSync(resolve(dataPath), "r");
  return { path: `/proc/self/fd/${folder}/${SOCKET_NAME}`, close: () => closeSync(folder) };
}
