import type { Clock, Timer } from "../../primitives/clock.ts";
import { KEEP_ALIVE_MS } from "../limits.ts";
import type { DisconnectReason } from "./disconnectReason.ts";
import type { SocketReader } from "./socketReader.ts";
import type { SocketWriter } from "./socketWriter.ts";

interface HealthCheckParts {
  readonly clock: Clock;
  readonly writer: Pick<SocketWriter, "isSending" | "isStalled">;
  readonly reader: Pick<SocketReader, "isWaiting" | "isStalled">;
  readonly ping: () => void;
  readonly disconnect: (reason: DisconnectReason, detail: string) => void;
  readonly destroy: (reason: DisconnectReason, detail: string) => void;
}

interface Probe {
  readonly answered: () => void;
  isSent: boolean;
}

/** Monitors an open connection: sends a Ping after silence, and ends it when no Pong comes or a transfer makes no progress. */
export class HealthCheck {
  private readonly parts: HealthCheckParts;
  private lastInboundMs: number;
  private isPongMissing = false;
  private timer: Timer | undefined;
  private sought: Probe | undefined;

  constructor(parts: HealthCheckParts) {
    this.parts = parts;
    this.lastInboundMs = parts.clock.nowMs();
  }

  /** Starts the checks, once the connection is open. */
  start(): void {
    this.schedule();
  }

  stop(): void {
    this.timer?.cancel();
  }

  /** Notes that bytes were received. */
  received(): void {
    this.lastInboundMs = this.parts.clock.nowMs();
  }

  ponged(): void {
    this.isPongMissing = false;
    if (this.sought === undefined) return;
    if (!this.sought.isSent) {
      this.sendProbe(this.sought);
      return;
    }
    const { answered } = this.sought;
    this.sought = undefined;
    answered();
  }

  /**
   * Probes whether the other end is alive: calls back at the Pong to a Ping sent from now on. One Ping is unanswered at a
   * time, because Pongs do not say which Ping they answer. Only the last call counts.
   */
  probe(answered: () => void): void {
    this.sought = { answered, isSent: false };
    if (!this.isPongMissing) this.sendProbe(this.sought);
  }

  private schedule(): void {
    this.timer?.cancel();
    const nextCheckMs = Math.min(
      this.parts.clock.nowMs() + CHECK_INTERVAL_MS,
      this.lastInboundMs + KEEP_ALIVE_MS,
    );
    this.timer = this.parts.clock.at(Math.max(nextCheckMs, this.parts.clock.nowMs() + 1), () => this.check());
  }

  private check(): void {
    if (this.parts.writer.isStalled) this.parts.destroy("timeout", "it stopped reading");
    else if (this.parts.reader.isStalled) this.parts.destroy("timeout", "its message makes no progress");
    else if (this.isSilent()) this.parts.disconnect("timeout", "no Pong within the keep-alive period");
    else this.schedule();
  }

  /** Sends a Ping after the first period of silence; true after the second. */
  private isSilent(): boolean {
    const nowMs = this.parts.clock.nowMs();
    // The Ping is queued behind waiting messages, and then behind the socket's buffer.
    if (this.isPongMissing && (this.parts.writer.isSending || this.parts.reader.isWaiting))
      this.lastInboundMs = nowMs + SOCKET_DRAIN_MS;
    if (nowMs - this.lastInboundMs < KEEP_ALIVE_MS) return false;
    if (this.isPongMissing) return true;
    this.ping();
    return false;
  }

  private ping(): void {
    this.isPongMissing = true;
    this.parts.ping();
    // The next period of silence starts here.
    this.lastInboundMs = this.parts.clock.nowMs();
  }

  private sendProbe(sought: Probe): void {
    sought.isSent = true;
    this.ping();
  }
}

const CHECK_INTERVAL_MS = 5_000;
/** Time to drain the buffers of both sockets and the path between, some 4 MB, at 2 Mbit/s. */
const SOCKET_DRAIN_MS = 15_000;
