import type { ServerResponse } from "node:http";
import type { Logger } from "../../observability/logger.ts";
import { remoteHostOf } from "./remoteHost.ts";
import { holdsTooMuch, type SharedTotal } from "./sharedTotals.ts";

/**
 * Large in-flight answers of one server, on all threads, with a limit on the memory that they take together. Above the limit it
 * cuts the connections on which nothing was read for the longest time.
 */
export class InFlightResponses {
  private readonly limitBytes: number;
  private readonly logger: Logger;
  private readonly total: SharedTotal;
  /** Bytes of each answer, ordered by the time of the last read, oldest first. */
  private readonly bytesOf = new Map<ServerResponse, number>();

  constructor(limitBytes: number, logger: Logger, total: SharedTotal) {
    this.limitBytes = limitBytes;
    this.logger = logger;
    this.total = total;
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
    const before = this.bytesOf.get(response) ?? 0;
    if (bytes === 0) this.bytesOf.delete(response);
    else this.bytesOf.set(response, bytes);
    this.total.set(this.ownBytes());
    if (bytes > before) this.cutSlowest();
  }

  /** Notes that the client was ready for a part of the answer. */
  wasRead(response: ServerResponse): void {
    const bytes = this.bytesOf.get(response);
    if (bytes === undefined) return;
    this.bytesOf.delete(response);
    this.bytesOf.set(response, bytes);
  }

  /** Cuts connections while all threads hold too much, and this one more than its part. */
  cutSlowest(): void {
    for (const [{ req }, answerBytes] of this.bytesOf) {
      if (!holdsTooMuch(this.total, this.limitBytes)) return;
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
    for (const [{ req }, bytes] of this.bytesOf) if (!req.socket.destroyed) total += bytes;
    return total;
  }
}
