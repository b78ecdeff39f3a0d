import { WebSocket } from "ws";
import type { Timer } from "../primitives/clock.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { CONNECT_MS, FIRST_RETRY_MS, LONGEST_RETRY_MS, MESSAGE_BYTES_LIMIT } from "./limits.ts";
import { type EthstatsLogin, type EthstatsParts, EthstatsSession } from "./session.ts";

export interface EthstatsSettings extends EthstatsLogin {
  readonly host: string;
  /** 443 or 80 unless given. */
  readonly port: number | undefined;
  /** Whether the connection is encrypted; undefined to try both in turn, encrypted first, as in Besu. */
  readonly isSecure: boolean | undefined;
  /** Certificates (PEM) that are trusted instead of the system's. */
  readonly authorities: string | undefined;
}

/**
 * Reports to an ethstats server for as long as the node runs: connects, hands the socket to a session, and connects again when it
 * has ended, after pauses that grow while attempts fail. A server that is absent costs the node nothing but these attempts.
 */
export class EthstatsReporter {
  private readonly settings: EthstatsSettings;
  private readonly parts: EthstatsParts;
  private isSecure: boolean;
  private retryMs = FIRST_RETRY_MS;
  private stopCurrent: () => void = () => undefined;
  private retry: Timer | undefined;
  private isStopped = false;

  constructor(settings: EthstatsSettings, parts: EthstatsParts) {
    this.settings = settings;
    this.parts = parts;
    this.isSecure = settings.isSecure ?? true;
  }

  start(): void {
    const { host, port = this.isSecure ? 443 : 80, authorities } = this.settings;
    const socket = new WebSocket(`${this.isSecure ? "wss" : "ws"}://${host}:${port}/api`, {
      handshakeTimeout: CONNECT_MS,
      maxPayload: MESSAGE_BYTES_LIMIT,
      // A small message could unfold into a large one.
      perMessageDeflate: false,
      followRedirects: false,
      // The session counts pings, too, and bounds what waits to be sent.
      autoPong: false,
      // Each message in a cycle of its own: a packet may hold thousands.
      allowSynchronousEvents: false,
      ...(authorities !== undefined && { ca: authorities }),
    });
    let session: EthstatsSession | undefined;
    let reason: string | undefined;
    this.stopCurrent = () => {
      session?.close();
      socket.terminate();
    };
    socket.on("open", () => {
      session = new EthstatsSession(socket, this.settings, this.parts, (why) => {
        reason = why;
      });
    });
    socket.on("message", (message: Buffer, isBinary) => {
      if (isBinary) session?.ignored(message);
      else session?.received(message);
    });
    socket.on("pong", (content) => session?.ignored(content));
    socket.on("ping", (content) => session?.pinged(content));
    socket.on("error", (error) => {
      reason ??= messageOf(error);
    });
    socket.on("close", () => {
      session?.close();
      this.lost(reason ?? closed(session), session?.hasBegun === true);
    });
  }

  stop(): void {
    this.isStopped = true;
    this.retry?.cancel();
    this.stopCurrent();
  }

  private lost(reason: string, hadBegun: boolean): void {
    if (this.isStopped) return;
    const { settings, parts } = this;
    const { clock, logger } = parts;
    if (hadBegun) this.retryMs = FIRST_RETRY_MS;
    logger.warn(
      { server: settings.host, encrypted: this.isSecure, reason, retryInMs: this.retryMs },
      "not reporting to the ethstats server",
    );
    if (settings.isSecure === undefined && !hadBegun) this.isSecure = !this.isSecure;
    this.retry = clock.at(clock.nowMs() + this.retryMs, () => this.start());
    this.retryMs = Math.min(2 * this.retryMs, LONGEST_RETRY_MS);
  }
}

function closed(session: EthstatsSession | undefined): string {
  return session === undefined || session.hasBegun
    ? "it closed the connection"
    : "it closed the connection without accepting the node: is the secret right?";
}
