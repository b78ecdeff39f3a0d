import type { Socket } from "node:net";
import type { Clock } from "../../primitives/clock.ts";
import type { BufferShare } from "./bufferBudget.ts";
import { Progress } from "./transferProgress.ts";
import type { Wire } from "./wire.ts";

interface SocketReaderParts {
  readonly socket: Socket;
  readonly wire: Pick<Wire, "receive" | "hold" | "resume" | "messagesRead" | "unreadBytes">;
  readonly share: Pick<BufferShare, "reportUnread">;
  readonly clock: Pick<Clock, "nowMs">;
  /** Runs the reading of a chunk now or later; false when it runs later. */
  readonly schedule: (read: () => void) => boolean;
}

/**
 * Passes a socket's input to its wire when there is time for it: at most one chunk waits, and the socket is paused
 * meanwhile.
 */
export class SocketReader {
  private readonly parts: SocketReaderParts;
  private readonly progress: Progress;
  /** The read that waits for its turn. */
  private pending: (() => void) | undefined;
  private isStopped = false;
  private isHeld = false;

  constructor(parts: SocketReaderParts) {
    this.parts = parts;
    this.progress = new Progress(parts.clock);
  }

  /** Whether a chunk waits for its turn. */
  get isWaiting(): boolean {
    return this.pending !== undefined;
  }

  /** Since when a message has been incomplete; undefined when none is. */
  get sinceMs(): number | undefined {
    return this.progress.sinceMs;
  }

  /** True when the peer's message makes no progress (transferProgress.ts), and this node's time budget is not the cause. */
  get isStalled(): boolean {
    return this.progress.isStalled && this.pending === undefined;
  }

  /** Receives the next chunk of the socket. */
  take(chunk: Uint8Array): void {
    if (this.isStopped) return;
    const { socket, schedule } = this.parts;
    let isTaken = false;
    const read = (): void => {
      if (isTaken) return;
      isTaken = true;
      this.pending = undefined;
      if (!this.isStopped) this.receive(chunk);
      if (!this.isHeld && socket.isPaused()) socket.resume();
    };
    if (schedule(read)) return;
    this.pending = read;
    socket.pause();
  }

  /** Reads the waiting chunk at once. */
  flush(): void {
    this.pending?.();
  }

  /** Stops reading until `resume`: further input waits in the socket, and the rest of a chunk in the wire. */
  hold(): void {
    this.isHeld = true;
    this.parts.wire.hold();
    this.parts.socket.pause();
  }

  resume(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.report(0, () => this.parts.wire.resume());
    if (this.pending === undefined) this.parts.socket.resume();
  }

  /** Drops all further input. */
  stop(): void {
    this.isStopped = true;
    const isPaused = this.isHeld || this.pending !== undefined;
    this.isHeld = false;
    this.pending = undefined;
    // Only a reader notices the end of the input, and a socket closed with unread input is reset, so its Disconnect may be
    // lost.
    if (isPaused) this.parts.socket.resume();
    this.parts.share.reportUnread(0);
  }

  private receive(chunk: Uint8Array): void {
    this.report(chunk.length, () => this.parts.wire.receive(chunk));
  }

  /** Reports the change of the wire's unread bytes, `newBytes` of which are new. */
  private report(newBytes: number, read: () => void): void {
    const { wire, share } = this.parts;
    const before = wire.messagesRead;
    read();
    const { unreadBytes } = wire;
    if (unreadBytes === 0 || wire.messagesRead > before) this.progress.end();
    if (unreadBytes > 0) {
      this.progress.begin();
      this.progress.advance(newBytes);
    }
    share.reportUnread(this.isStopped ? 0 : unreadBytes);
  }
}
