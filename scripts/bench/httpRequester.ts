import { connect, type Socket } from "node:net";

/** One connection on which one question is under way at a time. */
export interface Asker {
  ask(body: string): Promise<string>;
  close(): void;
}

/** What is longer is read to its end, and not kept: no text holds it. */
const LONGEST_TEXT = 2 ** 28;
const END_OF_HEAD = "\r\n\r\n";
const END_OF_CHUNKS = "\r\n0\r\n\r\n";

/**
 * An asker over HTTP that does next to nothing itself, so that the node is what is measured: the library's client takes
 * more CPU for a request than the nodes take to answer it. It understands answers of a given length and in chunks.
 */
export function openHttpRequester(port: number): Promise<Asker> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(askerOn(socket));
    });
  });
}

function askerOn(socket: Socket): Asker {
  let pieces: string[] = [];
  let length = 0;
  /** Characters that the answer has, once its head is there; undefined when it comes in chunks. */
  let wanted: number | undefined;
  let waiting: { resolve(answer: string): void; reject(error: Error): void } | undefined;

  function readHead(piece: string): void {
    const end = piece.indexOf(END_OF_HEAD);
    const stated = /content-length: (\d+)/i.exec(piece.slice(0, end))?.[1];
    wanted = stated === undefined ? undefined : end + END_OF_HEAD.length + Number(stated);
  }

  // All that the nodes say is ASCII, so that a character is a byte.
  socket.setEncoding("latin1");
  socket.on("data", (piece: string) => {
    if (length === 0) readHead(piece);
    length += piece.length;
    if (length <= LONGEST_TEXT) pieces.push(piece);
    const isWhole = wanted === undefined ? piece.endsWith(END_OF_CHUNKS) : length >= wanted;
    if (!isWhole) return;
    const answer = pieces.length === 1 ? piece : pieces.join("");
    pieces = [];
    length = 0;
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
          `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}${END_OF_HEAD}${body}`,
        );
      }),
    close: () => {
      waiting = undefined;
      socket.destroy();
    },
  };
}
