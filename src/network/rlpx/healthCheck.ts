import type { Clock, Timer } from "../../primitives/clock.ts";
import { KEEP_ALIVE_MS } from "../limits.ts";
import type { DisconnectReason } from "./disconnectReason.ts";
import type { SocketReader } from "./socketReader.ts";
import type { SocketWriter } from "./socketWriter.ts";

/** Monitors an open connection: sends a Ping after silence, and ends it when no Pong comes or a transfer makes no progress. */
export interface HealthCheck {
  /** Starts the checks, once the connection is open. */
  start(): void;
  stop(): void;
  /** Notes that bytes were received. */
  received(): void;
  ponged(): void;
  /**
   * Probes whether the other end is alive: calls back at the Pong to a Ping sent from now on. One Ping is unanswered at a
   * time, because Pongs do not say which Ping they answer. Only the last call counts.
   */
  probe(answered: () => void): void;
}

interface HealthCheckParts {
  readonly clock: Clock;
  readonly writer: Pick<SocketWriter, "isSending" | "isStalled">;
  readonly reader: Pick<SocketReader, "isWaiting" | "isStalled">;
  readonly ping: () => void;
  readonly disconnect: (reason: DisconnectReason, detail: string) => void;
  readonly destroy: (reason: DisconnectReason, detail: string) => void;
}

export function createHealthCheck(parts: HealthCheckParts): HealthCheck {
  const { clock, writer, reader } = parts;
  let lastInboundMs = clock.nowMs();
  let isPongMissing = false;
  let timer: Timer | undefined;
  let probe: { readonly answered: () => void; isSent: boolean } | undefined;

  function schedule(): void {
    timer?.cancel();
    const nextCheckMs = Math.min(clock.nowMs() + CHECK_INTERVAL_MS, lastInboundMs + KEEP_ALIVE_MS);
    timer = clock.at(Math.max(nextCheckMs, clock.nowMs() + 1), check);
  }

  function check(): void {
    if (writer.isStalled) parts.destroy("timeout", "it stopped reading");
    else if (reader.isStalled) parts.destroy("timeout", "its message makes no progress");
    else if (isSilent()) parts.disconnect("timeout", "no Pong within the keep-alive period");
    else schedule();
  }

  /** Sends a Ping after the first period of silence; true after the second. */
  function isSilent(): boolean {
    const nowMs = clock.nowMs();
    // The Ping is queued behind waiting messages, and then behind the socket's buffer.
    if (isPongMissing && (writer.isSending || reader.isWaiting)) lastInboundMs = nowMs + SOCKET_DRAIN_MS;
    if (nowMs - lastInboundMs < KEEP_ALIVE_MS) return false;
    if (isPongMissing) return true;
    ping();
    return false;
  }

  function ping(): void {
    isPongMissing = true;
    parts.ping();
    // The next period of silence starts here.
    lastInboundMs = clock.nowMs();
  }

  function sendProbe(sought: NonNullable<typeof probe>): void {
    sought.isSent = true;
    ping();
  }

  return {
    start: schedule,
    stop: () => timer?.cancel(),
    received() {
      lastInboundMs = clock.nowMs();
    },
    ponged() {
      isPongMissing = false;
      if (probe === undefined) return;
      if (!probe.isSent) {
        sendProbe(probe);
        return;
      }
      const { answered } = probe;
      probe = undefined;
      answered();
    },
    probe(answered) {
      probe = { answered, isSent: false };
      if (!isPongMissing) sendProbe(probe);
    },
  };
}

const CHECK_INTERVAL_MS = 5_000;
/** Time to drain the buffers of both sockets and the path between, some 4 MB, at 2 Mbit/s. */
const SOCKET_DRAIN_MS = 15_000;
