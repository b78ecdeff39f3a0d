import type { Socket } from "node:net";
import type { Clock } from "../../primitives/clock.ts";
import { MAX_WRITTEN_BYTES, PUMP_BYTES } from "../limits.ts";
import { createProgress } from "./transferProgress.ts";
import type { Wire } from "./wire.ts";

/** Writes a wire's bytes to its socket: no more at a time than the socket takes, the rest as the peer reads it. */
export interface SocketWriter {
  /** Writes a packet of the handshake. */
  write(bytes: Uint8Array): void;
  /** Encrypts and writes what fits into the socket, in slices. */
  pump(): void;
  /** Whether something waits for the peer to read. */
  readonly isSending: boolean;
  /** Since when something waits; undefined when nothing does. */
  readonly sinceMs: number | undefined;
  /** The peer reads too slowly (transferProgress.ts). */
  readonly isStalled: boolean;
}

export function createSocketWriter(
  socket: Socket,
  wire: Pick<Wire, "next" | "hasNext">,
  clock: Pick<Clock, "nowMs">,
): SocketWriter {
  const progress = createProgress(clock);
  let isPumpDue = false;

  const isSending = (): boolean => socket.writableLength > 0 || wire.hasNext;

  function write(bytes: Uint8Array): void {
    if (socket.destroyed) return;
    progress.begin();
    socket.write(bytes, () => {
      progress.advance(bytes.length);
      pump();
      if (!isSending()) progress.end();
    });
  }

  function pump(): void {
    if (isPumpDue) return;
    for (let pumped = 0; !socket.destroyed && socket.writableLength < MAX_WRITTEN_BYTES; ) {
      if (pumped >= PUMP_BYTES) {
        isPumpDue = true;
        setImmediate(pumpOn);
        return;
      }
      const bytes = wire.next();
      if (bytes === undefined) return;
      pumped += bytes.length;
      write(bytes);
    }
  }

  function pumpOn(): void {
    isPumpDue = false;
    pump();
  }

  return {
    write,
    pump,
    get isSending() {
      return isSending();
    },
    get sinceMs() {
      return progress.sinceMs;
    },
    get isStalled() {
      return progress.isStalled;
    },
  };
}
