import type { DisconnectReason } from "../rlpx/disconnectReason.ts";
import type { Session } from "../subProtocol.ts";
import { LATEST_ETH_VERSION } from "./messages.ts";

/** The connections of one peer: one, or two for some seconds after both ends dialed (p2p.md#connection-policy). */
export class PeerConnections {
  private readonly sessions = new Map<Session, { isGreeted: boolean }>();

  get isEmpty(): boolean {
    return this.sessions.size === 0;
  }

  /** True when the operator configured the peer. */
  get isMaintained(): boolean {
    return [...this.sessions.keys()].some((session) => session.isMaintained);
  }

  get isTrusted(): boolean {
    return [...this.sessions.keys()].some(({ share }) => share.isTrusted);
  }

  /** Bytes received over all of them so far. */
  get receivedBytes(): number {
    return [...this.sessions.keys()].reduce((sum, { receivedBytes }) => sum + receivedBytes, 0);
  }

  /** The negotiated version of eth over the connection that `send` uses. */
  get version(): number {
    return this.preferred()?.version ?? LATEST_ETH_VERSION;
  }

  open(session: Session): void {
    this.sessions.set(session, { isGreeted: false });
  }

  close(session: Session): void {
    this.sessions.delete(session);
  }

  /** Marks that Status was exchanged over this connection; nothing else is sent over it before. */
  markGreeted(session: Session): void {
    this.sessions.set(session, { isGreeted: true });
  }

  isGreeted(session: Session): boolean {
    return this.sessions.get(session)?.isGreeted === true;
  }

  /** Sends over the lasting connection; false when there is none. */
  send(code: number, payload: Uint8Array): boolean {
    return this.preferred()?.send(code, payload) ?? false;
  }

  /** Does work that the peer's input caused, within the peer's time budget. */
  inShare(work: () => void): void {
    // When one of two connections has just ended, the other may not have exchanged Status yet.
    const [first] = this.sessions.keys();
    const share = (this.preferred() ?? first)?.share;
    if (share !== undefined) share.take(work);
  }

  spend(durationMs: number): void {
    this.preferred()?.share.spend(durationMs);
  }

  reward(): void {
    this.preferred()?.reward();
  }

  penalise(): void {
    this.preferred()?.penalise();
  }

  disconnect(reason: DisconnectReason, detail: string): void {
    for (const session of [...this.sessions.keys()]) session.disconnect(reason, detail);
  }

  /** The lasting connection among those with a completed Status exchange. */
  private preferred(): Session | undefined {
    let found: Session | undefined;
    for (const [session, { isGreeted }] of this.sessions) {
      if (!isGreeted) continue;
      if (session.isLasting) return session;
      found ??= session;
    }
    return found;
  }
}
