import { connect, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";

/** One connection with one request at a time. */
export interface BenchRequester {
  ask(body: string): Promise<string>;
  close(): void;
}

/** Longer responses are read to the end but not kept, because no string can hold them. */
const LONGEST_TEXT = 2 ** 28;
const END_OF_HEAD = "\r\n\r\n";
const END_OF_CHUNKS = "\r\n0\r\n\r\n";

/**
 * An HTTP requester with little overhead: the library's client takes more CPU for a request than the nodes take to
 * answer it. It reads responses with a content length and chunked ones.
 */
export function openHttpRequester(port: number, options: RequesterOptions = {}): Promise<BenchRequester> {
  const { isSecure = false, token, path = "/" } = options;
  return new Promise((resolve, reject) => {
    const address = { host: "127.0.0.1", port, noDelay: true };
    const socket = isSecure ? connectSecurely({ ...address, rejectUnauthorized: false }) : connect(address);
    socket.once("error", reject);
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      socket.off("error", reject);
      resolve(requesterOn(socket, path, token === undefined ? "" : `Authorization: Bearer ${token}\r\n`));
    });
  });
}

export interface RequesterOptions {
  /** With TLS, by any certificate. */
  readonly isSecure?: boolean;
  readonly token?: string | undefined;
  /** The root if not given. */
  readonly path?: string;
}

function requesterOn(socket: Socket, path: string, moreHeaders: string): BenchRequester {
  let pieces: string[] = [];
  let length = 0;
  /** The end of what has come, which a chunk may have divided. */
  let tail = "";
  /** Length of the response, once its head has arrived; undefined when it is chunked. */
  let wanted: number | undefined;
  let waiting: { resolve(answer: string): void; reject(error: Error): void } | undefined;

  function readHead(piece: string): void {
    const end = piece.indexOf(END_OF_HEAD);
    const stated = /content-length: (\d+)/i.exec(piece.slice(0, end))?.[1];
    wanted = stated === undefined ? undefined : end + END_OF_HEAD.length + Number(stated);
  }

  // All responses are ASCII, so a character is a byte.
  socket.setEncoding("latin1");
  socket.on("data", (piece: string) => {
    if (length === 0) readHead(piece);
    length += piece.length;
    tail = (tail + piece).slice(-END_OF_CHUNKS.length);
    if (length <= LONGEST_TEXT) pieces.push(piece);
    const isWhole = wanted === undefined ? tail === END_OF_CHUNKS : length >= wanted;
    if (!isWhole) return;
    const answer = pieces.length === 1 ? piece : pieces.join("");
    pieces = [];
    length = 0;
    tail = "";
    waiting?.resolve(answer);
  });
  const lost = (): void => waiting?.reject(new Error("the node closed the connection"));
  socket.on("error", lost);
  socket.on("close", lost);

  return {
    ask: (body) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${moreHeaders}Content-Length: ${body.length}${END_OF_HEAD}${body}`,
        );
      }),
    close: () => {
      waiting = undefined;
      socket.destroy();
    },
  };
}
