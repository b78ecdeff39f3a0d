import type { Socket } from "node:net";
import type { Clock, Timer } from "../../primitives/clock.ts";
import type { JsonPiece } from "../../primitives/jsonPieces.ts";
import { EventLoopPacer } from "../../primitives/pacer.ts";
import { ERRORS, type RpcError } from "../errors/errors.ts";
import type { CallerTime } from "./callerTime.ts";
import { JsonTexts, TOO_LONG } from "./jsonTexts.ts";
import { ARRIVAL_LIMIT_MS, IPC_MESSAGE_BYTES, STUCK_READER_MS } from "./limits.ts";
import type { MessageConnection } from "./messageConnection.ts";
import type { MessageTransport } from "./messageTransport.ts";

/** How long a client may stand still in the middle of a message or an answer, and how long a message may take to arrive. */
export interface IpcTimes {
  readonly stillMs: number;
  readonly arrivalMs: number;
}

export const IPC_TIMES: IpcTimes = { stillMs: STUCK_READER_MS, arrivalMs: ARRIVAL_LIMIT_MS };

/** Names all callers over Unix sockets, which have no address. */
export const IPC_HOST = "ipc";

interface TransportParts {
  readonly clock: Clock;
  readonly times: IpcTimes;
  /** Counts what reading takes. */
  readonly callerTime: CallerTime;
}

/**
 * The messages of one Unix socket: JSON texts one after the other (jsonTexts.ts), each of ours with a line feed behind it
 * (json-rpc-errors.md#ipc). Nobody is pinged, because the system tells when the program at the other end is gone.
 *
 * What has arrived may hold tens of thousands of texts: they are read for a slice of the event loop, and then when it is the
 * callers' turn again. Nothing more is received meanwhile.
 */
export class IpcTransport implements MessageTransport {
  readonly name = "IPC";
  readonly unreadable = ERRORS.parseError;
  readonly emptyBatch = ERRORS.invalidRequest;
  private readonly stream: Socket;
  private readonly parts: TransportParts;
  private readonly texts = new JsonTexts(IPC_MESSAGE_BYTES);
  private receiver: MessageConnection | undefined;
  private isPaused = false;
  /** Whether texts that are there wait for their turn to be read. */
  private isWaiting = false;
  /** Whether what comes is not read any more. */
  private isOver = false;
  /** The end of the time for the message that is arriving. */
  private arrival: Timer | undefined;

  constructor(stream: Socket, parts: TransportParts) {
    this.stream = stream;
    this.parts = parts;
  }

  /** Passes on what is received, once. */
  start(receiver: MessageConnection): void {
    const { stream, texts } = this;
    this.receiver = receiver;
    stream.on("data", (piece) => {
      texts.add(piece);
      this.readTexts();
    });
    // A program that only sends no more, as `nc -N` does, reads its answers.
    stream.on("end", () => {
      if (texts.isPartial) this.refuse(ERRORS.parseError, "incomplete message");
      else receiver.finish();
    });
    stream.setTimeout(this.parts.times.stillMs, () => {
      if (stream.writableLength > 0) receiver.cut();
      else if (texts.isPartial && !this.isPaused && !this.isWaiting)
        this.refuse(ERRORS.parseError, "incomplete message, of which no more came");
    });
    stream.on("close", () => this.arrival?.cancel());
  }

  get isOpen(): boolean {
    return this.stream.writable;
  }

  get waitingBytes(): number {
    return this.stream.writableLength;
  }

  send(text: string, onSent: () => void): void {
    this.stream.write(`${text}\n`, onSent);
  }

  sendPieces(pieces: readonly JsonPiece[], onSent: () => void): void {
    this.stream.cork();
    for (const piece of pieces) this.stream.write(piece);
    this.stream.write("\n", onSent);
    this.stream.uncork();
  }

  sendShared(before: string, body: Uint8Array, after: string, onSent: () => void): void {
    this.sendPieces([before, body, after], onSent);
  }

  cork(): void {
    this.stream.cork();
  }

  uncork(): void {
    this.stream.uncork();
  }

  pause(): void {
    this.isPaused = true;
    this.stream.pause();
    this.arrival?.cancel();
    this.arrival = undefined;
  }

  resume(): void {
    if (this.isOver) return;
    this.isPaused = false;
    this.readTexts();
    if (!this.isPaused && !this.isWaiting) this.stream.resume();
  }

  /** A Unix socket has no codes: the client finds the end. */
  close(): void {
    this.stream.destroySoon();
  }

  cut(): void {
    this.stream.destroy();
  }

  onClose(listener: () => void): void {
    this.stream.once("close", listener);
  }

  /** Passes on the messages that are there, as far as they are received. */
  private readTexts(): void {
    if (!this.isWaiting) this.parts.callerTime.now(IPC_HOST, () => this.readSlice());
  }

  private async waitForTurn(): Promise<void> {
    this.isWaiting = true;
    this.stream.pause();
    await this.parts.callerTime.turn(IPC_HOST);
    this.isWaiting = false;
    if (this.isPaused || this.isOver) return;
    this.readTexts();
    if (!this.isPaused && !this.isWaiting) this.stream.resume();
  }

  private readSlice(): void {
    const { texts, receiver } = this;
    const pacer = new EventLoopPacer(this.parts.callerTime.nowMs);
    while (!this.isPaused && this.isOpen) {
      if (pacer.isDue()) {
        void this.waitForTurn();
        return;
      }
      const text = texts.next();
      if (text === TOO_LONG) {
        this.refuse(ERRORS.messageTooLong, "message too long");
        return;
      }
      if (text === undefined) break;
      this.arrival?.cancel();
      this.arrival = undefined;
      receiver?.receive(text);
    }
    if (texts.isPartial && !this.isPaused) this.boundArrival();
  }

  private boundArrival(): void {
    const { clock, times } = this.parts;
    this.arrival ??= clock.at(clock.nowMs() + times.arrivalMs, () =>
      this.refuse(ERRORS.parseError, "incomplete message, at the end of its time"),
    );
  }

  /** Where the next message would begin is unknown. */
  private refuse(error: RpcError, reason: string): void {
    this.isOver = true;
    this.pause();
    this.receiver?.refuse(error, reason);
  }
}
