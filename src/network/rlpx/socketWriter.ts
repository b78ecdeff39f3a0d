import type { Socket } from "node:net";
import type { Clock } from "../../primitives/clock.ts";
import { MAX_WRITTEN_BYTES, PUMP_BYTES } from "../limits.ts";
import { Progress } from "./transferProgress.ts";
import type { Wire } from "./wire.ts";

/** Writes a wire's bytes to its socket: no more at a time than the socket accepts, the rest as the peer reads. */
export class SocketWriter {
  private readonly socket: Socket;
  private readonly wire: Pick<Wire, "next" | "hasNext">;
  private readonly progress: Progress;
  private isPumpDue = false;

  constructor(socket: Socket, wire: Pick<Wire, "next" | "hasNext">, clock: Pick<Clock, "nowMs">) {
    this.socket = socket;
    this.wire = wire;
    this.progress = new Progress(clock);
  }

  /** Writes a packet of the handshake. */
  write(bytes: Uint8Array): void {
    if (this.socket.destroyed) return;
    this.progress.begin();
    this.socket.write(bytes, () => {
      this.progress.advance(bytes.length);
      this.pump();
      if (!this.isSending) this.progress.end();
    });
  }

  /** Encrypts and writes what fits into the socket, in slices. */
  pump(): void {
    if (this.isPumpDue) return;
    for (let pumped = 0; !this.socket.destroyed && this.socket.writableLength < MAX_WRITTEN_BYTES; ) {
      if (pumped >= PUMP_BYTES) {
        this.isPumpDue = true;
        setImmediate(() => {
          this.isPumpDue = false;
          this.pump();
        });
        return;
      }
      const bytes = this.wire.next();
      if (bytes === undefined) return;
      pumped += bytes.length;
      this.write(bytes);
    }
  }

  /** Whether data waits for the peer to read. */
  get isSending(): boolean {
    return this.socket.writableLength > 0 || this.wire.hasNext;
  }

  /** Since when data has waited; undefined when none does. */
  get sinceMs(): number | undefined {
    return this.progress.sinceMs;
  }

  /** True when the peer reads too slowly (transferProgress.ts). */
  get isStalled(): boolean {
    return this.progress.isStalled;
  }
}
