import type { DisconnectReason } from "../rlpx/disconnectReason.ts";
import type { Session } from "../subProtocol.ts";
import { LATEST_ETH_VERSION } from "./messages.ts";

/** The connections of one peer: one, or two for some seconds after both ends dialed (p2p.md#connection-policy). */
interface PeerConnections {
  readonly isEmpty: boolean;
  /** True when the operator configured the peer. */
  readonly isMaintained: boolean;
  readonly isTrusted: boolean;
  /** Bytes received over all of them so far. */
  readonly receivedBytes: number;
  /** The negotiated version of eth over the connection that `send` uses. */
  readonly version: number;
  open(session: Session): void;
  close(session: Session): void;
  /** Marks that Status was exchanged over this connection; nothing else is sent over it before. */
  markGreeted(session: Session): void;
  isGreeted(session: Session): boolean;
  /** Sends over the lasting connection; false when there is none. */
  send(code: number, payload: Uint8Array): boolean;
  /** Does work that the peer's input caused, within the peer's time budget. */
  inShare(work: () => void): void;
  spend(durationMs: number): void;
  reward(): void;
  penalise(): void;
  disconnect(reason: DisconnectReason, detail: string): void;
}

export function createPeerConnections(): PeerConnections {
  const sessions = new Map<Session, { isGreeted: boolean }>();

  /** The lasting connection among those with a completed Status exchange. */
  function preferred(): Session | undefined {
    let found: Session | undefined;
    for (const [session, { isGreeted }] of sessions) {
      if (!isGreeted) continue;
      if (session.isLasting) return session;
      found ??= session;
    }
    return found;
  }

  return {
    get isEmpty() {
      return sessions.size === 0;
    },
    get isMaintained() {
      return [...sessions.keys()].some((session) => session.isMaintained);
    },
    get isTrusted() {
      return [...sessions.keys()].some(({ share }) => share.isTrusted);
    },
    get receivedBytes() {
      return [...sessions.keys()].reduce((sum, { receivedBytes }) => sum + receivedBytes, 0);
    },
    get version() {
      return preferred()?.version ?? LATEST_ETH_VERSION;
    },
    open: (session) => void sessions.set(session, { isGreeted: false }),
    close: (session) => void sessions.delete(session),
    markGreeted: (session) => void sessions.set(session, { isGreeted: true }),
    isGreeted: (session) => sessions.get(session)?.isGreeted === true,
    send: (code, payload) => preferred()?.send(code, payload) ?? false,
    inShare(work) {
      // When one of two connections has just ended, the other may not have exchanged Status yet.
      const [first] = sessions.keys();
      const share = (preferred() ?? first)?.share;
      if (share !== undefined) share.take(work);
    },
    spend: (durationMs) => preferred()?.share.spend(durationMs),
    reward: () => preferred()?.reward(),
    penalise: () => preferred()?.penalise(),
    disconnect(reason, detail) {
      for (const session of [...sessions.keys()]) session.disconnect(reason, detail);
    },
  };
}
