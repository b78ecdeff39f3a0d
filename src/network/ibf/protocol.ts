import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { includesBytes } from "../../primitives/hex.ts";
import { PIECE_BYTES } from "../limits.ts";
import type { Session, SubProtocol } from "../subProtocol.ts";
import { type ReceivedMessage, SenderQueues } from "./senderQueues.ts";

/** The codes of IBF/1 are 0 to 3 (ibft2.md#messages). */
const MESSAGE_CODES = 4;

/**
 * Carries consensus messages between validators, without interpreting them.
 *
 *     sessions ──> senderQueues.ts ──> receive          send ──> each session of an address, or the lasting one
 *
 * A message that is longer than one piece (PIECE_BYTES) is large: it is sent over one of two crossing connections.
 */
export interface IbfTransport {
  readonly protocol: SubProtocol;
  /**
   * Sends to each connected address in `to` that is not in `except`, over all its connections (p2p.md#connection-policy). A
   * large message goes only over the crossing connection that stays.
   */
  send(
    code: number,
    payload: Uint8Array,
    recipients: { readonly to: readonly Address[]; readonly except?: readonly Address[] },
  ): void;
  /** Counts a useless message against the peer; too many disconnect it (p2p.md#disconnect-reasons). */
  penalise(sender: Address): void;
  /** Addresses with open sessions. */
  readonly connected: readonly Address[];
  /**
   * Addresses that keep their connections: a node that two nodes of one key connect to refuses the second one, a moment
   * later.
   */
  readonly kept: readonly Address[];
  /** Messages dropped because their sender's queue was full. */
  readonly droppedCount: number;
}

type SendMessage = (code: number, payload: Uint8Array) => void;

export function createIbfTransport(parts: {
  readonly receive: (message: ReceivedMessage) => void;
  /** Called when a session opened. `send` sends over that session only. */
  readonly onOpened?: (address: Address, send: SendMessage) => void;
  /**
   * Defers large messages after a session has opened; sends them at once unless given. Besu disconnects a peer whose other
   * protocols have no Status within 5 s (p2p.md#status-and-fork-id), and 9 MB take 8 s at 10 Mbit/s.
   */
  readonly later?: (send: () => void) => void;
}): IbfTransport {
  const { later = (send) => send() } = parts;
  const sessions = new Map<string, Set<Session>>();
  const received = new SenderQueues(parts.receive);

  const protocol: SubProtocol = {
    name: "IBF",
    version: 1,
    messageCodes: MESSAGE_CODES,
    priority: "consensus",
    messageNames: ["Proposal", "Prepare", "Commit", "RoundChange"],
    onOpen(session) {
      const key = toKey(session.address);
      const known = sessions.get(key);
      if (known === undefined) sessions.set(key, new Set([session]));
      else known.add(session);
      parts.onOpened?.(session.address, (code, payload) => {
        if (payload.length <= PIECE_BYTES) session.send(code, payload);
        else later(() => void (session.isLasting && session.send(code, payload)));
      });
    },
    onMessage: ({ address }, code, payload) => received.enqueue(address, code, payload),
    onClose(session) {
      const key = toKey(session.address);
      const known = sessions.get(key);
      known?.delete(session);
      if (known?.size === 0) sessions.delete(key);
    },
  };

  return {
    protocol,
    send(code, payload, { to, except = [] }) {
      for (const address of to) {
        if (includesBytes(except, address)) continue;
        const known = [...(sessions.get(toKey(address)) ?? [])];
        const lasting = payload.length > PIECE_BYTES ? known.filter((one) => one.isLasting) : [];
        for (const session of lasting.length > 0 ? lasting : known) session.send(code, payload);
      }
    },
    penalise(sender) {
      for (const session of [...(sessions.get(toKey(sender)) ?? [])]) session.penalise();
    },
    get connected() {
      return [...sessions.values()].flatMap(([session]) => (session === undefined ? [] : [session.address]));
    },
    get kept() {
      return [...sessions.values()].flatMap((known) => {
        const ready = [...known].find(({ isReady }) => isReady);
        return ready === undefined ? [] : [ready.address];
      });
    },
    get droppedCount() {
      return received.droppedCount;
    },
  };
}
