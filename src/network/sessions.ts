import type { Logger } from "../observability/logger.ts";
import type { Agreed } from "./rlpx/capabilities.ts";
import type { Connection } from "./rlpx/connection.ts";
import type { DisconnectReason } from "./rlpx/disconnectReason.ts";
import type { Hello } from "./rlpx/hello.ts";
import type { Session, SubProtocol } from "./subProtocol.ts";
import type { PassingMessage, Traffic } from "./traffic.ts";

interface SessionsParts {
  readonly connection: Connection;
  readonly hello: Hello;
  readonly agreed: readonly Agreed<SubProtocol>[];
  readonly peer: SessionPeer;
  readonly logger: Logger;
  readonly traffic: Traffic | undefined;
  /** Called when the last protocol has completed its handshake. */
  readonly onReady: () => void;
}

/** The peer, and this connection to it, as the sessions see them. */
interface SessionPeer
  extends Pick<Session, "nodeId" | "address" | "isMaintained" | "isLasting" | "share" | "reward"> {
  /** Counts a useless response; true when the peer has reached the limit. */
  penalise(): boolean;
}

interface OpenSession extends Agreed<SubProtocol> {
  readonly session: Session;
  /** True once the protocol got `onOpen`, so that it gets `onClose` too. */
  isOpened: boolean;
}

/**
 * The sub-protocols on one connection: hands each its messages by id (p2p.md#hello-and-capabilities). An exception in a
 * protocol is a bug, and ends this connection and no other.
 */
export class Sessions {
  private readonly parts: SessionsParts;
  private readonly sessions: readonly OpenSession[];
  /** Protocols whose handshake is not complete. */
  private readonly pendingGreetings: Set<SubProtocol>;
  private isClosed = false;

  constructor(parts: SessionsParts) {
    this.parts = parts;
    this.sessions = parts.agreed.map((one) => ({
      ...one,
      session: this.sessionOf(one),
      isOpened: false,
    }));
    this.pendingGreetings = new Set(
      parts.agreed.map(({ protocol }) => protocol).filter(({ hasGreeting }) => hasGreeting),
    );
  }

  /** The agreed protocols. */
  get protocols(): readonly { readonly name: string; readonly version: number }[] {
    return this.sessions.map(({ protocol: { name, version } }) => ({ name, version }));
  }

  /** Whether the handshakes of all protocols are complete. */
  get isReady(): boolean {
    return this.pendingGreetings.size === 0;
  }

  /** Notifies the protocols, any of which may end the connection. */
  open(): void {
    for (const one of this.sessions) {
      // An earlier protocol may have ended the connection.
      if (this.isClosed) return;
      one.isOpened = true;
      this.guard(() => one.protocol.onOpen(one.session));
    }
  }

  receive(id: number, payload: Uint8Array): void {
    const found = this.sessions.find(
      ({ offset, protocol }) => id >= offset && id < offset + protocol.messageCodes,
    );
    // Message ids outside all protocols are ignored.
    if (found === undefined) {
      this.parts.traffic?.passed({
        direction: "inbound",
        protocol: "Wire",
        name: "Invalid",
        code: undefined,
      });
      return;
    }
    const code = id - found.offset;
    this.note("inbound", found.protocol, { code, bytes: payload.length });
    this.guard(() => found.protocol.onMessage(found.session, code, payload));
  }

  /** Notifies the protocols that were notified of the opening. */
  close(reason: DisconnectReason): void {
    this.isClosed = true;
    for (const { protocol, session, isOpened } of this.sessions) {
      if (isOpened) this.guard(() => protocol.onClose(session, reason));
    }
  }

  private sessionOf({ protocol, offset }: Agreed<SubProtocol>): Session {
    const { connection, hello, peer } = this.parts;
    const isReady = (): boolean => this.isReady;
    return {
      nodeId: peer.nodeId,
      address: peer.address,
      hello,
      version: protocol.version,
      isInbound: connection.isInbound,
      remote: connection.remote,
      share: peer.share,
      get isMaintained() {
        return peer.isMaintained;
      },
      get isLasting() {
        return peer.isLasting;
      },
      get isReady() {
        return isReady();
      },
      get receivedBytes() {
        return connection.receivedBytes;
      },
      send: (code, payload) => {
        if (code < 0 || code >= protocol.messageCodes) return false;
        if (!connection.send(offset + code, payload, protocol.priority)) return false;
        this.note("outbound", protocol, { code, bytes: payload.length });
        return true;
      },
      disconnect: (reason, detail = `${protocol.name} ends the connection`) =>
        connection.disconnect(reason, detail),
      greeted: () => this.greeted(protocol),
      reward: () => peer.reward(),
      penalise() {
        if (peer.penalise()) connection.disconnect("uselessPeer", "too many useless responses");
      },
    };
  }

  private greeted(protocol: SubProtocol): void {
    if (this.isClosed) return;
    this.pendingGreetings.delete(protocol);
    if (this.isReady) this.parts.onReady();
  }

  /** Counts a message, and logs it at TRACE. `bytes` is the length of its uncompressed payload. */
  private note(
    direction: PassingMessage["direction"],
    protocol: SubProtocol,
    { code, bytes }: { readonly code: number; readonly bytes: number },
  ): void {
    const { traffic, logger, peer, connection } = this.parts;
    const name = protocol.messageNames?.[code] ?? "Invalid";
    const passing = { direction, protocol: `${protocol.name}/${protocol.version}`, name, code };
    traffic?.passed(passing);
    logger.often("trace", direction === "inbound" ? "message received" : "message sent", () => ({
      kind: name,
      protocol: passing.protocol,
      bytes,
      peer: peer.address,
      host: connection.remote.host,
    }));
  }

  private guard(act: () => void): void {
    const { connection, logger } = this.parts;
    try {
      act();
    } catch (error) {
      logger.error({ error, ...connection.remote }, "a protocol failed on a peer's message");
      connection.disconnect("requested", "a protocol failed");
    }
  }
}
