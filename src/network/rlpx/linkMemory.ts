import { MAX_QUEUED_BYTES, MAX_UNTRUSTED_UNREAD_BYTES } from "../limits.ts";
import type { Urgency } from "./urgency.ts";

/**
 * Memory of all connections together: what waits to be sent, each message counted once however many connections share
 * it, and what came of messages that are not complete.
 *
 * When too much waits to be sent, these go first: the strangers (neither validators nor named by the operator) that have
 * kept a message waiting longest; then whatever is no consensus; then the oldest of the connection with most of it. When
 * too much of strangers' messages waits for the rest of them, whoever has taken longest over one is cut.
 */
export interface LinkMemory {
  join(link: MemoryLink): LinkShare;
  readonly queuedBytes: number;
  /** Of messages that are not complete. */
  readonly unreadBytes: number;
}

export interface MemoryLink {
  readonly isUntrusted: boolean;
  /** Since when the other end has not read what it was sent, undefined when it has; on any one clock. */
  readonly sendingSinceMs: number | undefined;
  /** Since when a message of the other end is not complete. */
  readonly readingSinceMs: number | undefined;
  readonly waitingBytes: Readonly<Record<Urgency, number>>;
  dropOrdinary(): void;
  dropOldestConsensus(): boolean;
  /** It leaves, too. */
  cut(detail: string): void;
}

/** What one connection has of it. */
export interface LinkShare {
  /** False when there is no room. */
  hold(bytes: Uint8Array, urgency: Urgency): boolean;
  release(bytes: Uint8Array): void;
  /** So much memory is taken by a message that is not complete. */
  noteUnread(bytes: number): void;
  leave(): void;
}

export function createLinkMemory(
  limits = { queuedBytes: MAX_QUEUED_BYTES, strangersUnreadBytes: MAX_UNTRUSTED_UNREAD_BYTES },
): LinkMemory {
  const links = new Set<MemoryLink>();
  const unread = new Map<MemoryLink, number>();
  /** How many connections hold the bytes. */
  const holders = new Map<Uint8Array, number>();
  let queuedBytes = 0;
  let unreadBytes = 0;

  function setUnread(link: MemoryLink, bytes: number): void {
    unreadBytes += bytes - (unread.get(link) ?? 0);
    if (bytes === 0) unread.delete(link);
    else unread.set(link, bytes);
  }

  /** Who is a stranger is asked only when it matters. */
  function isTooMuchUnread(): boolean {
    if (unreadBytes <= limits.strangersUnreadBytes) return false;
    let sum = 0;
    for (const [link, bytes] of unread) if (link.isUntrusted) sum += bytes;
    return sum > limits.strangersUnreadBytes;
  }

  /** The stranger that has taken longest over something. */
  function slowest(sinceMs: (link: MemoryLink) => number | undefined): MemoryLink | undefined {
    let found: { readonly link: MemoryLink; readonly since: number } | undefined;
    for (const link of links) {
      const since = link.isUntrusted ? sinceMs(link) : undefined;
      if (since !== undefined && (found === undefined || since < found.since)) found = { link, since };
    }
    return found?.link;
  }

  function fullest(urgency: Urgency): MemoryLink | undefined {
    let found: MemoryLink | undefined;
    for (const link of links) {
      const bytes = link.waitingBytes[urgency];
      if (bytes > 0 && bytes > (found?.waitingBytes[urgency] ?? 0)) found = link;
    }
    return found;
  }

  /** False when there is nothing more that may go for it. */
  function makeRoom(urgency: Urgency): boolean {
    const stranger = slowest(({ sendingSinceMs }) => sendingSinceMs);
    if (stranger !== undefined) {
      stranger.cut("it reads too slowly, and memory is short");
      return true;
    }
    if (urgency === "ordinary") return false;
    const bulky = fullest("ordinary");
    if (bulky !== undefined) {
      bulky.dropOrdinary();
      return true;
    }
    return fullest("consensus")?.dropOldestConsensus() ?? false;
  }

  function join(link: MemoryLink): LinkShare {
    links.add(link);
    return {
      hold(bytes, urgency) {
        while (!holders.has(bytes) && queuedBytes + bytes.length > limits.queuedBytes) {
          if (!makeRoom(urgency) || !links.has(link)) return false;
        }
        const count = holders.get(bytes) ?? 0;
        if (count === 0) queuedBytes += bytes.length;
        holders.set(bytes, count + 1);
        return true;
      },
      release(bytes) {
        const count = holders.get(bytes) ?? 0;
        if (count > 1) holders.set(bytes, count - 1);
        else if (holders.delete(bytes)) queuedBytes -= bytes.length;
      },
      noteUnread(bytes) {
        setUnread(link, bytes);
        while (bytes > 0 && isTooMuchUnread()) {
          const stranger = slowest(({ readingSinceMs }) => readingSinceMs);
          if (stranger === undefined) return;
          stranger.cut("its message takes too long, and memory is short");
        }
      },
      leave() {
        links.delete(link);
        setUnread(link, 0);
      },
    };
  }

  return {
    join,
    get queuedBytes() {
      return queuedBytes;
    },
    get unreadBytes() {
      return unreadBytes;
    },
  };
}
