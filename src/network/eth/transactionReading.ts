import type { Transaction } from "../../types/transaction.ts";
import {
  FIRST_BATCH,
  LARGEST_BATCH,
  MAX_UNREAD_GOSSIP_BYTES,
  MAX_UNREAD_PEER_BYTES,
  TURN_BYTES,
  USELESS_OF_MESSAGE,
} from "./limits.ts";
import type { TransactionJudgement } from "./transactionScore.ts";

/**
 * Transactions that peers send unasked are read a few at a time, after all else that has come: a proposal or a vote does
 * not wait behind a flood of them.
 *
 *     message ──> waits behind the peer's others ──> a batch decoded ──> signers found, judged ──> the next batch, larger
 *                                                                                              └─> too many useless: the rest is left
 *
 * What holds: one batch of a peer is under way at a time, in the share of time that the peer has; its transactions reach
 * the pool in order; what waits is bounded in bytes, and the newest is dropped: others have it, and announce it again.
 */
export interface TransactionReading<Peer> {
  post(peer: Peer, payload: Uint8Array): void;
  forget(peer: Peer): void;
}

export interface TransactionReadingParts<Peer> {
  /** Runs after whatever else there is to do. */
  readonly defer: (action: () => void) => void;
  /** Does it now, or when the peer's share of time allows. */
  readonly inShare: (peer: Peer, work: () => void) => void;
  /** Its transactions, decoded one by one; throws RangeError for what is none. */
  readonly open: (payload: Uint8Array) => Iterator<Transaction>;
  /** At once where that is known at once. */
  readonly judge: (
    peer: Peer,
    transactions: readonly Transaction[],
  ) => TransactionJudgement | Promise<TransactionJudgement>;
  readonly breach: (peer: Peer, detail: string) => void;
}

interface Unread {
  readonly payload: Uint8Array;
  transactions: Iterator<Transaction> | undefined;
  useful: number;
  useless: number;
}

interface Inbox {
  readonly messages: Unread[];
  bytes: number;
  batch: number;
}

export function createTransactionReading<Peer>(
  parts: TransactionReadingParts<Peer>,
): TransactionReading<Peer> {
  const { defer, inShare, open, judge, breach } = parts;
  /** Each with a message at least, of which a batch is under way or will be. */
  const inboxes = new Map<Peer, Inbox>();
  let unreadBytes = 0;

  function forget(peer: Peer): void {
    unreadBytes -= inboxes.get(peer)?.bytes ?? 0;
    inboxes.delete(peer);
  }

  function readLater(peer: Peer, inbox: Inbox): void {
    defer(() => {
      if (inboxes.get(peer) === inbox) inShare(peer, () => readBatch(peer, inbox));
    });
  }

  function readBatch(peer: Peer, inbox: Inbox): void {
    const [message] = inbox.messages;
    // It may have left while it waited for time.
    if (message === undefined || inboxes.get(peer) !== inbox) return;
    try {
      message.transactions ??= open(message.payload);
      const { batch, isEnd } = take(message.transactions, inbox.batch);
      const end = (judgement: TransactionJudgement): void => settle(peer, inbox, { isEnd, judgement });
      const judged = judge(peer, batch);
      if (judged instanceof Promise) void judged.then(end);
      else end(judged);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      forget(peer);
      breach(peer, `transactions: ${error.message}`);
    }
  }

  function settle(
    peer: Peer,
    inbox: Inbox,
    { isEnd, judgement }: { readonly isEnd: boolean; readonly judgement: TransactionJudgement },
  ): void {
    const [message] = inbox.messages;
    if (message === undefined || inboxes.get(peer) !== inbox) return;
    message.useful += judgement.useful;
    message.useless += judgement.useless;
    inbox.batch = judgement.useless > 0 ? FIRST_BATCH : Math.min(2 * inbox.batch, LARGEST_BATCH);
    const isSpent = message.useless >= USELESS_OF_MESSAGE && message.useless > message.useful;
    if (isEnd || isSpent) {
      inbox.messages.shift();
      inbox.bytes -= message.payload.length;
      unreadBytes -= message.payload.length;
    }
    if (inbox.messages.length > 0) readLater(peer, inbox);
    else inboxes.delete(peer);
  }

  return {
    post(peer, payload) {
      const message: Unread = { payload, transactions: undefined, useful: 0, useless: 0 };
      const inbox = inboxes.get(peer);
      if (inbox === undefined) {
        const opened: Inbox = { messages: [message], bytes: payload.length, batch: FIRST_BATCH };
        inboxes.set(peer, opened);
        unreadBytes += payload.length;
        readLater(peer, opened);
        return;
      }
      const isFull =
        inbox.bytes + payload.length > MAX_UNREAD_PEER_BYTES ||
        unreadBytes + payload.length > MAX_UNREAD_GOSSIP_BYTES;
      if (isFull) return;
      inbox.messages.push(message);
      inbox.bytes += payload.length;
      unreadBytes += payload.length;
    },
    forget,
  };
}

/** So many of them, or so many bytes. */
function take(
  transactions: Iterator<Transaction>,
  most: number,
): { readonly batch: readonly Transaction[]; readonly isEnd: boolean } {
  const batch: Transaction[] = [];
  let bytes = 0;
  while (batch.length < most && bytes < TURN_BYTES) {
    const { done, value } = transactions.next();
    if (done === true) return { batch, isEnd: true };
    batch.push(value);
    bytes += value.raw.length;
  }
  return { batch, isEnd: false };
}
