import { MAX_UNREAD_GOSSIP_BYTES } from "./limits.ts";

/**
 * Transactions that peers send unasked wait here until all else that has come is read, one message at a time: a proposal
 * or a vote does not wait behind a flood of them. Bounded in bytes; beyond that the oldest are read at once, which makes
 * their senders wait.
 */
export interface GossipReading<Peer> {
  /** Calls `read` later, in the order in which the messages came. */
  post(peer: Peer, bytes: number, read: () => void): void;
  forget(peer: Peer): void;
}

interface Unread<Peer> {
  readonly peer: Peer;
  readonly bytes: number;
  readonly read: () => void;
}

export function createGossipReading<Peer>(
  defer: (action: () => void) => void = setImmediate,
): GossipReading<Peer> {
  let unread: Unread<Peer>[] = [];
  let unreadBytes = 0;
  let isScheduled = false;

  function readOldest(): void {
    const oldest = unread.shift();
    if (oldest === undefined) return;
    unreadBytes -= oldest.bytes;
    oldest.read();
  }

  function schedule(): void {
    if (isScheduled || unread.length === 0) return;
    isScheduled = true;
    defer(() => {
      isScheduled = false;
      readOldest();
      schedule();
    });
  }

  return {
    post(peer, bytes, read) {
      unread.push({ peer, bytes, read });
      unreadBytes += bytes;
      while (unreadBytes > MAX_UNREAD_GOSSIP_BYTES) readOldest();
      schedule();
    },
    forget(peer) {
      unread = unread.filter((message) => message.peer !== peer);
      unreadBytes = unread.reduce((sum, { bytes }) => sum + bytes, 0);
    },
  };
}
