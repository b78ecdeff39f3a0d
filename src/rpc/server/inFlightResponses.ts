import type { ServerResponse } from "node:http";
import type { Logger } from "../../observability/logger.ts";
import { SLOW_READER_MS } from "./limits.ts";
import { remoteHostOf } from "./remoteHost.ts";
import { holdsMoreThanShare, type SharedTotal } from "./sharedTotals.ts";

/**
 * Large in-flight answers of the HTTP servers of a thread, with a limit on the memory that they take together with those of other
 * threads. Above the limit it cuts the connections on which nothing was read for the longest time. It alone writes its total, so
 * that a thread has one for each.
 */
export class InFlightResponses {
  private readonly limitBytes: number;
  private readonly logger: Logger;
  private readonly total: SharedTotal;
  private readonly nowMs: () => number;
  /** Ordered by the time of the last read, oldest first. */
  private readonly held = new Map<ServerResponse, Held>();

  constructor(
    limitBytes: number,
    {
      logger,
      total,
      nowMs = () => performance.now(),
    }: {
      readonly logger: Logger;
      readonly total: SharedTotal;
      /** For tests; the time of the process if not given. */
      readonly nowMs?: (() => number) | undefined;
    },
  ) {
    this.limitBytes = limitBytes;
    this.logger = logger;
    this.total = total;
    this.nowMs = nowMs;
    // Another thread may need room although this one writes nothing more, and a client may have stopped reading.
    setInterval(() => this.cutSlowest(), CHECK_PAUSE_MS).unref();
  }

  /** Counts an answer while it is sent. `send` must call `onRead` whenever the client was ready for a part. */
  async during(
    response: ServerResponse,
    bytes: number,
    send: (onRead: () => void) => Promise<void>,
  ): Promise<void> {
    this.hold(response, bytes);
    try {
      await send(() => this.wasRead(response));
    } finally {
      this.hold(response, 0);
    }
  }

  /** Sets the bytes that the answer takes from now on; 0 when it is finished. */
  hold(response: ServerResponse, bytes: number): void {
    const before = this.held.get(response);
    if (bytes === 0) this.held.delete(response);
    else this.held.set(response, { bytes, readAtMs: before?.readAtMs ?? this.nowMs() });
    this.total.set(this.ownBytes());
    if (bytes > (before?.bytes ?? 0)) this.cutSlowest();
  }

  /** Notes that the client was ready for a part of the answer. */
  wasRead(response: ServerResponse): void {
    const held = this.held.get(response);
    if (held === undefined) return;
    this.held.delete(response);
    this.held.set(response, { ...held, readAtMs: this.nowMs() });
  }

  /**
   * Cuts connections while all threads hold too much, and this one more than its part; and while this thread holds more than one may,
   * those of which nothing was read for a while.
   */
  cutSlowest(): void {
    for (const [{ req }, { bytes: answerBytes, readAtMs }] of this.held) {
      const isSlow = this.nowMs() - readAtMs >= SLOW_READER_MS;
      const isTooMuch = holdsMoreThanShare(this.total, this.limitBytes);
      if (!isTooMuch && !(isSlow && this.total.own > this.total.mostOfOne)) return;
      if (req.socket.destroyed) continue;
      const remote = remoteHostOf(req.socket.remoteAddress);
      this.logger.warn({ remote, answerBytes }, "HTTP client reads too slowly; connection closed");
      req.socket.destroy();
      this.total.set(this.ownBytes());
    }
  }

  /** Counts only connections that are not cut; one may have several answers. */
  private ownBytes(): number {
    let total = 0;
    for (const [{ req }, { bytes }] of this.held) if (!req.socket.destroyed) total += bytes;
    return total;
  }
}

interface Held {
  readonly bytes: number;
  readonly readAtMs: number;
}

const CHECK_PAUSE_MS = 100;
