import { asAddress } from "../../../primitives/address.ts";
import { asHash } from "../../../primitives/hash.ts";
import { decodeTransaction, type SentTransaction, withSender } from "../../../types/transaction.ts";
import type { SubscriptionPorts } from "../../subscriptions/subscriptions.ts";
import { packBytes, unpackBytes } from "../packedBytes.ts";
import type { FromThread, ToThread } from "../protocol.ts";

/*
 * Events of the main thread for the subscribers of a thread: transactions that enter the pool or are dropped from it, and
 * the progress of syncing. Heads are not among them: a thread finds out itself what its view has new.
 *
 *   thread   first subscriber ──> its interest, in shared memory, before the subscription is answered
 *   main     event ──> threads that want it ──> one message for each event-loop cycle, within the credit
 *   thread   events ──> subscribers ──> credit
 */

/** Kinds of events that a thread has sent only while it has subscribers to them. */
const ADDED = 1;
const DROPPED = 2;

/** What each thread wants sent, in shared memory: a message would come later than an answer by another thread. */
export interface Interests {
  readonly memory: SharedArrayBuffer;
  of(thread: number): number;
  change(thread: number, kinds: number): void;
}

export function openInterests(threads: number, memory = new SharedArrayBuffer(4 * threads)): Interests {
  const kinds = new Int32Array(memory);
  return {
    memory,
    of: (thread) => Atomics.load(kinds, thread),
    change: (thread, wanted) => void Atomics.store(kinds, thread, wanted),
  };
}

/** Events that a thread may have before it, and about their bytes; beyond it events are lost, and with them their subscribers. */
export const EVENT_CREDIT = 65_536;
export const EVENT_CREDIT_BYTES = 16 * 1024 * 1024;

/** The main thread's side of one thread's events. */
export interface EventSource {
  added(transaction: SentTransaction): void;
  dropped(transaction: Pick<SentTransaction, "hash">): void;
  /** The thread has worked on so many events. */
  credit(worked: Amount): void;
  /** The thread ended. */
  drop(): void;
}

/** Events, and about their bytes. */
interface Amount {
  readonly events: number;
  readonly bytes: number;
}

type PoolEvents = ToThread & { readonly kind: "poolEvents" };

/** Sends the events of one thread; another source is needed when the thread starts again. */
export function createEventSource(interests: () => number, post: (message: PoolEvents) => void): EventSource {
  let added: SentTransaction[] = [];
  let dropped: Uint8Array[] = [];
  let unsentBytes = 0;
  const sent = { events: 0, bytes: 0 };
  let areLost = false;
  let isDropped = false;

  function send(): void {
    if (isDropped) return;
    const hashes = new Uint8Array(32 * dropped.length);
    for (const [index, hash] of dropped.entries()) hashes.set(hash, 32 * index);
    const events = added.length + dropped.length;
    sent.events += events;
    sent.bytes += unsentBytes;
    post({
      kind: "poolEvents",
      added: packBytes(added.flatMap(({ raw, sender }) => [raw, sender])),
      dropped: hashes,
      events,
      bytes: unsentBytes,
      areLost,
    });
    added = [];
    dropped = [];
    unsentBytes = 0;
    areLost = false;
  }

  /** Makes room for an event; false when it is lost. */
  function admits(kind: number, eventBytes: number): boolean {
    if ((interests() & kind) === 0) return false;
    const bytes = unsentBytes === 0 ? MESSAGE_BYTES + eventBytes : eventBytes;
    const before = sent.events + added.length + dropped.length;
    const isFull = before >= EVENT_CREDIT || sent.bytes + unsentBytes + bytes > EVENT_CREDIT_BYTES;
    if (isFull && before > 0) {
      areLost = true;
      return false;
    }
    if (unsentBytes === 0) setImmediate(send);
    unsentBytes += bytes;
    return true;
  }

  return {
    added(transaction) {
      if (admits(ADDED, transaction.raw.length + EVENT_BYTES)) added.push(transaction);
    },
    dropped({ hash }) {
      if (admits(DROPPED, EVENT_BYTES)) dropped.push(hash);
    },
    credit({ events, bytes }) {
      sent.events -= events;
      sent.bytes -= bytes;
      if (areLost && unsentBytes === 0) send();
    },
    drop() {
      isDropped = true;
    },
  };
}

/** Counted for each event beside its bytes, and for each message. */
const EVENT_BYTES = 64;
const MESSAGE_BYTES = 1024;

/** The thread's side. */
export interface EventFeed extends Pick<SubscriptionPorts, "pool" | "onSyncChanged"> {
  receive(events: PoolEvents | (ToThread & { readonly kind: "syncing" })): void;
}

/**
 * `want` takes what the thread has subscribers to, `post` the credit. `onLost` is called when events were lost because this
 * thread was too slow.
 */
export function createEventFeed(
  want: (kinds: number) => void,
  post: (credit: FromThread & { readonly kind: "credit" }) => void,
  onLost: () => void,
): EventFeed {
  const added = createListeners<Parameters<SubscriptionPorts["pool"]["onAdded"]>[0]>();
  const dropped = createListeners<Parameters<SubscriptionPorts["pool"]["onDropped"]>[0]>();
  const syncing = createListeners<Parameters<SubscriptionPorts["onSyncChanged"]>[0]>();
  const tell = (): void => want((added.all.size > 0 ? ADDED : 0) | (dropped.all.size > 0 ? DROPPED : 0));

  function receivePool(events: PoolEvents): void {
    const strings = unpackBytes(events.added);
    for (const raw of strings) {
      const sender = strings.next().value;
      const decoded = decodeTransaction(raw);
      if (!decoded.ok || sender === undefined) continue;
      const transaction = withSender(decoded.value, asAddress(sender));
      for (const listener of added.all) listener({ transaction });
    }
    for (let at = 0; at < events.dropped.length; at += 32) {
      const hash = asHash(events.dropped.slice(at, at + 32));
      for (const listener of dropped.all) listener({ transaction: { hash } });
    }
    post({ kind: "credit", events: events.events, bytes: events.bytes });
    if (events.areLost) onLost();
  }

  return {
    pool: {
      onAdded: (listener) => added.listen(listener, tell),
      onDropped: (listener) => dropped.listen(listener, tell),
    },
    onSyncChanged: (listener) => syncing.listen(listener, () => undefined),
    receive(events) {
      if (events.kind === "poolEvents") receivePool(events);
      else for (const listener of syncing.all) listener(events.status);
    },
  };
}

function createListeners<Listener>() {
  const all = new Set<Listener>();
  return {
    all: all as ReadonlySet<Listener>,
    listen(listener: Listener, onChanged: () => void): () => void {
      all.add(listener);
      onChanged();
      return () => {
        all.delete(listener);
        onChanged();
      };
    },
  };
}
