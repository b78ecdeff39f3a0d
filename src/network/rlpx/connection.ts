import type { Socket } from "node:net";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { CLOSE_DELAY_MS, KEEP_ALIVE_MS, MAX_WRITTEN_BYTES, PUMP_BYTES, SETUP_TIMEOUT_MS } from "../limits.ts";
import { type BufferBudget, type BufferShare, createBufferBudget } from "./bufferBudget.ts";
import type { DisconnectReason } from "./disconnectReason.ts";
import type { OwnIdentity } from "./handshake.ts";
import type { Hello } from "./hello.ts";
import type { MessagePriority } from "./messagePriority.ts";
import { createProgress } from "./progress.ts";
import { createSendQueue } from "./sendQueue.ts";
import { createWire, type Wire } from "./wire.ts";

/** How a connection ended. */
export interface Disconnect {
  readonly reason: DisconnectReason;
  /** Which end closed it; `nobody` when the TCP connection was lost. */
  readonly by: "us" | "them" | "nobody";
  /** For logs. */
  readonly detail: string;
}

export interface Remote {
  readonly host: string;
  readonly port: number;
}

/**
 * A wire (wire.ts) on a socket, with timeouts and limits: set up within 10 s, kept alive by Ping, closed when the peer
 * makes no progress in reading or sending, however little or much waits. It ends exactly once, whatever happens
 * afterwards.
 */
export interface Connection {
  readonly isInbound: boolean;
  readonly remote: Remote;
  /** The local end; undefined once the socket is closed. */
  readonly local: Remote | undefined;
  /** The dialed node id; undefined for an inbound connection. */
  readonly dialedId: Uint8Array | undefined;
  /** The node id that the remote end has proven. */
  readonly provenId: Uint8Array | undefined;
  /**
   * False when the message cannot be sent: the connection has ended, the message is too large, or too much is queued.
   */
  send(id: number, payload: Uint8Array, priority?: MessagePriority): boolean;
  /** Sends Disconnect and closes the socket 2 s later; only the first call has an effect. */
  disconnect(reason: DisconnectReason, detail: string): void;
  /** Closes the socket at once, without a Disconnect. */
  destroy(reason: DisconnectReason, detail: string): void;
  /** Bytes of queued messages and of encrypted ones in the socket. */
  readonly unsentBytes: number;
  readonly receivedBytes: number;
}

export interface ConnectionEvents {
  opened(hello: Hello): void;
  message(id: number, payload: Uint8Array): void;
  /** A message of the base protocol was received or sent. */
  base?(direction: "inbound" | "outbound", id: number): void;
  /** Called once; only `released` follows. */
  ended(disconnect: Disconnect): void;
  /** Called once; the socket is closed. */
  released(): void;
}

export interface ConnectionSettings {
  readonly own: OwnIdentity;
  readonly hello: Hello;
  readonly remote: Remote;
  /** The dialed node id; undefined for an inbound connection. */
  readonly remoteId?: Uint8Array;
}

export interface ConnectionParts {
  readonly socket: Socket;
  readonly clock: Clock;
  /**
   * Schedules the reading of a received chunk; false when it runs later. At once unless given. The id is the dialed
   * one, even before it is proven, or the proven one of an inbound connection.
   */
  readonly read?: ((nodeId: Uint8Array | undefined, read: () => void) => boolean) | undefined;
  /** Shared by all connections; a budget of its own unless given. */
  readonly bufferBudget?: BufferBudget | undefined;
  /** Whether a node is trusted, so that untrusted ones are dropped first when memory is short; none is unless given. */
  readonly isTrusted?: ((nodeId: Uint8Array) => boolean) | undefined;
}

/** Takes over the socket; an outbound one may still be connecting. */
export function createConnection(
  settings: ConnectionSettings,
  {
    socket,
    clock,
    read = readAtOnce,
    bufferBudget = createBufferBudget(),
    isTrusted = () => false,
  }: ConnectionParts,
  events: ConnectionEvents,
): Connection {
  let hasEnded = false;
  let isOpen = false;
  let socketError = "the connection was closed";
  let lastInboundMs = clock.nowMs();
  let isPongMissing = false;
  let isPumpDue = false;
  const sending = createProgress(clock);
  const reading = createProgress(clock);
  /** The read that waits for its time budget. */
  let pendingRead: (() => void) | undefined;
  let timer: Timer = clock.at(lastInboundMs + SETUP_TIMEOUT_MS, () =>
    destroy("timeout", "handshake and Hello timed out"),
  );

  const share: BufferShare = bufferBudget.join({
    get isUntrusted() {
      const nodeId = settings.remoteId ?? wire.provenId;
      return nodeId === undefined || !isTrusted(nodeId);
    },
    get sendingSinceMs() {
      return sending.sinceMs;
    },
    get readingSinceMs() {
      return reading.sinceMs;
    },
    get waitingBytes() {
      return sends.waitingBytes;
    },
    dropOrdinary: () => sends.dropOrdinary(),
    dropOldestConsensus: () => sends.dropOldestConsensus(),
    cut: (detail) => destroy("timeout", detail),
  });
  const sends = createSendQueue(share);

  const wire: Wire = createWire(
    {
      own: settings.own,
      hello: settings.hello,
      ...(settings.remoteId && { remoteId: settings.remoteId }),
    },
    {
      write,
      queued: pump,
      opened(hello) {
        isOpen = true;
        scheduleCheck();
        events.opened(hello);
      },
      message: events.message,
      ...(events.base && { base: events.base }),
      ponged: () => {
        isPongMissing = false;
      },
      disconnected(reason) {
        end({ reason, by: "them", detail: "it sent Disconnect" });
        socket.end();
        timer = clock.at(clock.nowMs() + CLOSE_DELAY_MS, () => socket.destroy());
      },
      broken: disconnect,
    },
    sends,
  );

  function write(bytes: Uint8Array): void {
    if (socket.destroyed) return;
    sending.begin();
    socket.write(bytes, () => {
      sending.advance(bytes.length);
      pump();
      if (!isSending()) sending.end();
    });
  }

  const isSending = (): boolean => socket.writableLength > 0 || wire.hasNext;

  /** Encrypts what fits into the socket, in slices. */
  function pump(): void {
    if (isPumpDue) return;
    for (let pumped = 0; !socket.destroyed && socket.writableLength < MAX_WRITTEN_BYTES; ) {
      if (pumped >= PUMP_BYTES) {
        isPumpDue = true;
        setImmediate(() => {
          isPumpDue = false;
          pump();
        });
        return;
      }
      const bytes = wire.next();
      if (bytes === undefined) return;
      pumped += bytes.length;
      write(bytes);
    }
  }

  function receive(chunk: Uint8Array): void {
    const before = wire.messagesRead;
    wire.receive(chunk);
    const { unreadBytes } = wire;
    if (unreadBytes === 0 || wire.messagesRead > before) reading.end();
    if (unreadBytes > 0) {
      reading.begin();
      reading.advance(chunk.length);
    }
    share.reportUnread(hasEnded ? 0 : unreadBytes);
  }

  /** Schedules the next health check of an open connection. */
  function scheduleCheck(): void {
    timer.cancel();
    const nextCheckMs = Math.min(clock.nowMs() + CHECK_INTERVAL_MS, lastInboundMs + KEEP_ALIVE_MS);
    timer = clock.at(Math.max(nextCheckMs, clock.nowMs() + 1), checkHealth);
  }

  function checkHealth(): void {
    const nowMs = clock.nowMs();
    if (sending.isStalled) {
      destroy("timeout", "it stopped reading");
      return;
    }
    // A chunk that waits for its time budget here is not the peer's fault.
    if (reading.isStalled && pendingRead === undefined) {
      destroy("timeout", "its message makes no progress");
      return;
    }
    // The Ping is queued behind waiting messages, and then behind the socket's buffer.
    if (isPongMissing && (isSending() || pendingRead !== undefined)) lastInboundMs = nowMs + SOCKET_DRAIN_MS;
    if (nowMs - lastInboundMs >= KEEP_ALIVE_MS) {
      if (isPongMissing) {
        disconnect("timeout", "no Pong within the keep-alive period");
        return;
      }
      isPongMissing = true;
      wire.ping();
      // The next period of silence starts here.
      lastInboundMs = nowMs;
    }
    scheduleCheck();
  }

  function end(disconnect: Disconnect): void {
    if (hasEnded) return;
    hasEnded = true;
    timer.cancel();
    share.reportUnread(0);
    events.ended(disconnect);
  }

  function disconnect(reason: DisconnectReason, detail: string): void {
    if (hasEnded) return;
    const isSent = wire.disconnect(reason);
    end({ reason, by: "us", detail });
    if (!isSent) socket.destroy();
    // Further input is read and dropped, so that the Disconnect is not lost in a TCP reset.
    else timer = clock.at(clock.nowMs() + CLOSE_DELAY_MS, () => socket.destroy());
  }

  function destroy(reason: DisconnectReason, detail: string): void {
    wire.stop();
    share.leave();
    end({ reason, by: "us", detail });
    socket.destroy();
  }

  socket.setNoDelay(true);
  socket.on("connect", () => wire.start());
  if (!socket.connecting) wire.start();
  socket.on("data", (chunk) => {
    lastInboundMs = clock.nowMs();
    if (hasEnded) return;
    let isTaken = false;
    const take = (): void => {
      if (isTaken) return;
      isTaken = true;
      pendingRead = undefined;
      if (!hasEnded) receive(chunk);
      if (socket.isPaused()) socket.resume();
    };
    if (read(settings.remoteId ?? wire.provenId, take)) return;
    pendingRead = take;
    socket.pause();
  });
  socket.on("error", (error) => {
    socketError = error.message;
  });
  socket.on("end", () => socket.destroy());
  socket.on("close", () => {
    // The waiting chunk may contain a Disconnect.
    pendingRead?.();
    wire.stop();
    share.leave();
    end({ reason: "tcpError", by: "nobody", detail: socketError });
    timer.cancel();
    events.released();
  });

  return {
    isInbound: settings.remoteId === undefined,
    remote: settings.remote,
    get local() {
      const { localAddress: host, localPort: port } = socket;
      return host === undefined || port === undefined ? undefined : { host: plainHost(host), port };
    },
    dialedId: settings.remoteId,
    get provenId() {
      return wire.provenId;
    },
    send: (id, payload, priority) => !hasEnded && isOpen && wire.send(id, payload, priority),
    disconnect,
    destroy,
    get receivedBytes() {
      return socket.bytesRead;
    },
    get unsentBytes() {
      const { consensus, ordinary } = sends.waitingBytes;
      return consensus + ordinary + socket.writableLength;
    },
  };
}

/** Turns an IPv4-mapped address of a dual-stack socket into plain IPv4. */
export function plainHost(host: string): string {
  return host.startsWith("::ffff:") ? host.slice("::ffff:".length) : host;
}

function readAtOnce(_: unknown, read: () => void): boolean {
  read();
  return true;
}

const CHECK_INTERVAL_MS = 5_000;
/** Time for the buffers of both sockets and the path between, some 4 MB, at 2 Mbit/s. */
const SOCKET_DRAIN_MS = 15_000;
