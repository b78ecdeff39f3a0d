import type { JsonPiece } from "../../primitives/jsonPieces.ts";
import type { RpcError } from "../errors/errors.ts";

/** What carries the messages of one connection: a WebSocket, or a Unix socket on which JSON texts follow each other. */
export interface MessageTransport {
  /** Name of the protocol in log lines. */
  readonly name: "WebSocket" | "IPC";
  /** Besu's answer to a message that is no JSON object or list. */
  readonly unreadable: RpcError;
  /** Besu's answer to an empty batch; undefined where that is an empty list. */
  readonly emptyBatch: RpcError | undefined;
  /** Whether messages can be sent. */
  readonly isOpen: boolean;
  /** Size of what waits to be sent, in the stream's units: characters of strings, bytes of buffers. */
  readonly waitingBytes: number;
  /** Sends one message. `onSent` is called when it was sent or dropped. */
  send(text: string, onSent: () => void): void;
  /** Like `send`, for a large message. */
  sendPieces(pieces: readonly JsonPiece[], onSent: () => void): void;
  /** Like `send`, for a message whose middle part many connections share; the outer parts are ASCII. */
  sendShared(before: string, body: Uint8Array, after: string, onSent: () => void): void;
  /** Holds back what is sent from now on, so that it leaves together. */
  cork(): void;
  uncork(): void;
  /** Stops receiving messages. */
  pause(): void;
  resume(): void;
  /** Ends the connection after what waits to be sent; `code` is one of closeCodes.ts. */
  close(code: number, reason: string): void;
  /** Ends the connection at once. */
  cut(): void;
  /** Calls `listener` once, when the connection has closed. */
  onClose(listener: () => void): void;
}
