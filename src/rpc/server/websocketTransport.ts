import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { JsonPiece } from "../../primitives/jsonPieces.ts";
import { ERRORS } from "../errors/errors.ts";
import type { MessageConnection } from "./messageConnection.ts";
import type { MessageTransport } from "./messageTransport.ts";
import { SHARED_BYTES, smallFrame, textFrame, writeFrame } from "./wholeFrame.ts";

/** The messages of one WebSocket: each is a text frame, and clients are pinged. */
export class WebSocketTransport implements MessageTransport {
  readonly name = "WebSocket";
  readonly unreadable = ERRORS.internalError;
  readonly emptyBatch = undefined;
  private readonly socket: WebSocket;
  private readonly stream: Duplex & { readonly bytesRead?: number };
  /** Bytes received until the last ping. */
  private bytesRead = 0;

  /** `stream` is the connection under the socket. */
  constructor(socket: WebSocket, stream: Duplex) {
    this.socket = socket;
    this.stream = stream;
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  get waitingBytes(): number {
    return this.socket.bufferedAmount;
  }

  send(text: string, onSent: () => void): void {
    if (text.length < SHARED_BYTES) this.stream.write(textFrame(text), onSent);
    else this.socket.send(text, onSent);
  }

  sendPieces(pieces: readonly JsonPiece[], onSent: () => void): void {
    writeFrame(this.stream, pieces, onSent);
  }

  sendShared(before: string, body: Uint8Array, after: string, onSent: () => void): void {
    if (body.length < SHARED_BYTES) this.stream.write(smallFrame(before, body, after), onSent);
    else writeFrame(this.stream, [before, body, after], onSent);
  }

  cork(): void {
    this.stream.cork();
  }

  uncork(): void {
    this.stream.uncork();
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  cut(): void {
    this.socket.terminate();
  }

  onClose(listener: () => void): void {
    this.socket.once("close", listener);
  }

  /** Pings the client, and cuts the connection when nothing was received, nor taken of what waited, since the last ping. */
  heartbeat(connection: Pick<MessageConnection, "isAnswering" | "tookSome" | "cut">): void {
    // A message that is still arriving counts, because a pong has to wait behind its frame.
    const { bytesRead = 0 } = this.stream;
    if (!connection.tookSome() && !connection.isAnswering && bytesRead === this.bytesRead) {
      connection.cut();
      return;
    }
    this.bytesRead = bytesRead;
    if (this.isOpen) this.socket.ping();
  }
}
