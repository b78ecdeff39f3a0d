import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { includesBytes } from "../../primitives/hex.ts";
import { IBF_BURST, IBF_QUEUE_BYTES, IBF_QUEUE_MESSAGES, LARGE_MESSAGE_BYTES } from "../limits.ts";
import type { Session, SubProtocol } from "../subProtocol.ts";

/** The codes of IBF/1 are 0 to 3 (ibft2.md#messages). */
const MESSAGE_CODES = 4;

/**
 * Carries consensus messages between validators, and does not interpret them.
 *
 *     sessions ──> one bounded queue per sender ── round robin, a burst at a time ──> receive
 *
 * Invariants: one sender can neither fill the memory nor delay another's messages by more than one round of the queues;
 * messages beyond a sender's bounds are dropped and counted, its oldest are kept.
 */
export interface IbfTransport {
  readonly protocol: SubProtocol;
  /**
   * Sends to each connected address in `to`, over all its connections (p2p.md#connection-policy), except those in
   * `except`. A large message goes only over the crossing connection that stays.
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
  /** Messages dropped because their sender's queue was full. */
  readonly droppedCount: number;
}

export interface ReceivedMessage {
  /** The peer that sent it; messages are relayed, so it need not be the author. */
  readonly sender: Address;
  readonly code: number;
  readonly payload: Uint8Array;
}

export type SendMessage = (code: number, payload: Uint8Array) => void;

interface PeerQueue {
  readonly sender: Address;
  readonly messages: ReceivedMessage[];
  bytes: number;
}

export function createIbfTransport(parts: {
  readonly receive: (message: ReceivedMessage) => void;
  /** A session opened. `say` sends over that session alone. */
  readonly onOpened?: (address: Address, say: SendMessage) => void;
  /**
   * Defers large messages after a session has opened; at once unless given. Besu disconnects a peer whose other
   * protocols have no Status within 5 s (p2p.md#status-and-fork-id), and 9 MB take 8 s at 10 Mbit/s.
   */
  readonly later?: (say: () => void) => void;
}): IbfTransport {
  const { later = (say) => say() } = parts;
  const sessions = new Map<string, Set<Session>>();
  /** Queues with waiting messages, in round-robin order. */
  const queues = new Map<string, PeerQueue>();
  let isScheduled = false;
  let droppedCount = 0;

  function deliverBurst(): void {
    isScheduled = false;
    for (let count = 0; count < IBF_BURST; count++) {
      const [next] = queues;
      if (next === undefined) return;
      const [key, queue] = next;
      const message = queue.messages.shift();
      queues.delete(key);
      if (message === undefined) continue;
      queue.bytes -= message.payload.length;
      // The sender goes to the back of the round robin.
      if (queue.messages.length > 0) queues.set(key, queue);
      parts.receive(message);
    }
    schedule();
  }

  function schedule(): void {
    if (isScheduled || queues.size === 0) return;
    isScheduled = true;
    setImmediate(deliverBurst);
  }

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
        if (payload.length <= LARGE_MESSAGE_BYTES) session.send(code, payload);
        else later(() => void (session.isLasting && session.send(code, payload)));
      });
    },
    onMessage({ address: sender }, code, payload) {
      const key = toKey(sender);
      const queue = queues.get(key) ?? { sender, messages: [], bytes: 0 };
      const isFull =
        queue.messages.length >= IBF_QUEUE_MESSAGES ||
        (queue.messages.length > 0 && queue.bytes + payload.length > IBF_QUEUE_BYTES);
      if (isFull) {
        droppedCount++;
        return;
      }
      queue.messages.push({ sender, code, payload });
      queue.bytes += payload.length;
      queues.set(key, queue);
      schedule();
    },
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
        const lasting = payload.length > LARGE_MESSAGE_BYTES ? known.filter((one) => one.isLasting) : [];
        for (const session of lasting.length > 0 ? lasting : known) session.send(code, payload);
      }
    },
    penalise(sender) {
      for (const session of [...(sessions.get(toKey(sender)) ?? [])]) session.penalise();
    },
    get connected() {
      return [...sessions.values()].flatMap(([session]) => (session === undefined ? [] : [session.address]));
    },
    get droppedCount() {
      return droppedCount;
    },
  };
}
