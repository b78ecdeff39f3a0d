import type { Socket } from "node:net";
import type { Clock, Timer } from "../../primitives/clock.ts";
import type { Endpoint } from "../../primitives/endpoint.ts";
import { CLOSE_DELAY_MS, SETUP_TIMEOUT_MS } from "../limits.ts";
import { type BudgetedConnection, BufferBudget, type BufferShare } from "./bufferBudget.ts";
import type { Disconnect, DisconnectReason } from "./disconnectReason.ts";
import type { OwnIdentity } from "./handshake.ts";
import { HealthCheck } from "./healthCheck.ts";
import type { Hello } from "./hello.ts";
import type { MessagePriority } from "./messagePriority.ts";
import { plainHost } from "./plainHost.ts";
import { SendQueue } from "./sendQueue.ts";
import { SocketReader } from "./socketReader.ts";
import { SocketWriter } from "./socketWriter.ts";
import { Wire, type WireEvents } from "./wire.ts";

interface ConnectionEvents {
  opened(hello: Hello): void;
  message(id: number, payload: Uint8Array): void;
  /** Called when a message of the base protocol was received or sent. */
  base?(direction: "inbound" | "outbound", id: number): void;
  /** Called when the peer of an open connection broke the protocol; `ended` follows. */
  broken?(): void;
  /** Called once, when the connection ended; only `released` follows. */
  ended(disconnect: Disconnect): void;
  /** Called once, when the socket is closed. */
  released(): void;
}

interface ConnectionSettings {
  readonly own: OwnIdentity;
  readonly hello: Hello;
  readonly remote: Endpoint;
  /** The dialed node id; undefined for an inbound connection. */
  readonly remoteId?: Uint8Array;
}

interface ConnectionParts {
  readonly socket: Socket;
  readonly clock: Clock;
  /**
   * Schedules the reading of a received chunk; false when it runs later. Reads at once unless given. The id is the dialed
   * one, even before it is proven, or the proven one of an inbound connection.
   */
  readonly read?: ((nodeId: Uint8Array | undefined, read: () => void) => boolean) | undefined;
  /** Budget shared by all connections; each has its own unless given. */
  readonly bufferBudget?: BufferBudget | undefined;
  /** Whether a node is trusted, so that untrusted ones are dropped first when memory is short; none is unless given. */
  readonly isTrusted?: ((nodeId: Uint8Array) => boolean) | undefined;
}

/**
 * A wire (wire.ts) on a socket, with timeouts and limits: set up within 10 s, kept alive by Ping, closed when the peer makes
 * no progress in reading or sending, however little or much waits. A connection ends exactly once, whatever happens
 * afterwards.
 */
export class Connection implements BudgetedConnection {
  readonly remote: Endpoint;
  /** The dialed node id; undefined for an inbound connection. */
  readonly dialedId: Uint8Array | undefined;
  private readonly socket: Socket;
  private readonly clock: Clock;
  private readonly events: ConnectionEvents;
  private readonly isTrusted: (nodeId: Uint8Array) => boolean;
  private readonly share: BufferShare;
  private readonly sends: SendQueue;
  private readonly wire: Wire;
  private readonly writer: SocketWriter;
  private readonly reader: SocketReader;
  private readonly health: HealthCheck;
  private hasEnded = false;
  private isOpen = false;
  private socketError = "the connection was closed";
  /** Timer that ends a set-up that takes too long, and later closes the socket. */
  private timer: Timer;

  /** Takes over the socket; an outbound one may still be connecting. */
  constructor(settings: ConnectionSettings, parts: ConnectionParts, events: ConnectionEvents) {
    const { socket, clock, read = readAtOnce, bufferBudget = new BufferBudget() } = parts;
    this.remote = settings.remote;
    this.dialedId = settings.remoteId;
    this.socket = socket;
    this.clock = clock;
    this.events = events;
    this.isTrusted = parts.isTrusted ?? (() => false);
    this.share = bufferBudget.join(this);
    this.sends = new SendQueue(this.share);
    this.wire = new Wire(settings, this.wireEvents(), this.sends);
    this.writer = new SocketWriter(socket, this.wire, clock);
    this.reader = new SocketReader({
      socket,
      wire: this.wire,
      share: this.share,
      clock,
      schedule: (take) => read(this.nodeId, take),
    });
    this.health = new HealthCheck({
      clock,
      writer: this.writer,
      reader: this.reader,
      ping: () => this.wire.ping(),
      disconnect: (reason, detail) => this.disconnect(reason, detail),
      destroy: (reason, detail) => this.destroy(reason, detail),
    });
    this.timer = clock.at(clock.nowMs() + SETUP_TIMEOUT_MS, () =>
      this.destroy("timeout", "handshake and Hello timed out"),
    );
    this.listen();
  }

  get isInbound(): boolean {
    return this.dialedId === undefined;
  }

  /** The local end; undefined once the socket is closed. */
  get local(): Endpoint | undefined {
    const { localAddress: host, localPort: port } = this.socket;
    return host === undefined || port === undefined ? undefined : { host: plainHost(host), port };
  }

  /** The node id that the remote end has proven. */
  get provenId(): Uint8Array | undefined {
    return this.wire.provenId;
  }

  get receivedBytes(): number {
    return this.socket.bytesRead;
  }

  /** Bytes of queued messages and of encrypted ones in the socket. */
  get unsentBytes(): number {
    const { consensus, ordinary } = this.sends.waitingBytes;
    return consensus + ordinary + this.socket.writableLength;
  }

  get isUntrusted(): boolean {
    const { nodeId } = this;
    return nodeId === undefined || !this.isTrusted(nodeId);
  }

  get sendingSinceMs(): number | undefined {
    return this.writer.sinceMs;
  }

  get readingSinceMs(): number | undefined {
    return this.reader.sinceMs;
  }

  get waitingBytes(): BudgetedConnection["waitingBytes"] {
    return this.sends.waitingBytes;
  }

  /**
   * False when the message cannot be sent: the connection has ended, the message is too large, or too much is queued.
   */
  send(id: number, payload: Uint8Array, priority?: MessagePriority): boolean {
    return !this.hasEnded && this.isOpen && this.wire.send(id, payload, priority);
  }

  /** Sends Disconnect and closes the socket 2 s later; only the first call has an effect. */
  disconnect(reason: DisconnectReason, detail: string): void {
    if (this.hasEnded) return;
    const isSent = this.wire.disconnect(reason);
    this.end({ reason, by: "us", detail });
    // Further input is read and dropped, so that the Disconnect is not lost in a TCP reset.
    if (isSent) this.closeLater();
    else this.socket.destroy();
  }

  /** Closes the socket at once, without a Disconnect. */
  destroy(reason: DisconnectReason, detail: string): void {
    this.release();
    this.end({ reason, by: "us", detail });
    this.socket.destroy();
  }

  /** Stops reading until `resume`. */
  hold(): void {
    this.reader.hold();
  }

  resume(): void {
    this.reader.resume();
  }

  /** Calls back when the remote end answers a Ping sent from now on; only the last call counts (healthCheck.ts). */
  probe(answered: () => void): void {
    this.health.probe(answered);
  }

  dropOrdinary(): void {
    this.sends.dropOrdinary();
  }

  dropOldestConsensus(): boolean {
    return this.sends.dropOldestConsensus();
  }

  cut(detail: string): void {
    this.destroy("timeout", detail);
  }

  /** The dialed node id, even before it is proven. */
  private get nodeId(): Uint8Array | undefined {
    return this.dialedId ?? this.wire.provenId;
  }

  private wireEvents(): WireEvents {
    const { events, socket } = this;
    return {
      write: (bytes) => this.writer.write(bytes),
      queued: () => this.writer.pump(),
      opened: (hello) => {
        this.isOpen = true;
        this.timer.cancel();
        this.health.start();
        events.opened(hello);
      },
      message: (id, payload) => events.message(id, payload),
      base: (direction, id) => events.base?.(direction, id),
      ponged: () => this.health.ponged(),
      disconnected: (reason) => {
        this.end({ reason, by: "them", detail: "it sent Disconnect" });
        socket.end();
        this.closeLater();
      },
      broken: (reason, detail) => {
        if (this.isOpen) events.broken?.();
        this.disconnect(reason, detail);
      },
    };
  }

  private listen(): void {
    const { socket, wire } = this;
    socket.setNoDelay(true);
    socket.on("connect", () => wire.start());
    if (!socket.connecting) wire.start();
    socket.on("data", (chunk) => {
      this.health.received();
      this.reader.take(chunk);
    });
    socket.on("error", (error) => {
      this.socketError = error.message;
    });
    socket.on("end", () => socket.destroy());
    socket.on("close", () => {
      // The waiting chunk may contain a Disconnect.
      this.reader.flush();
      this.release();
      this.end({ reason: "tcpError", by: "nobody", detail: this.socketError });
      this.timer.cancel();
      this.events.released();
    });
  }

  private end(disconnect: Disconnect): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.timer.cancel();
    this.health.stop();
    this.reader.stop();
    this.events.ended(disconnect);
  }

  private closeLater(): void {
    this.timer = this.clock.at(this.clock.nowMs() + CLOSE_DELAY_MS, () => this.socket.destroy());
  }

  /** Releases the connection's queued messages and its incomplete input. */
  private release(): void {
    this.wire.stop();
    this.share.leave();
  }
}

function readAtOnce(_: unknown, read: () => void): boolean {
  read();
  return true;
}
