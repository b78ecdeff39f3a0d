import type { SentTransaction } from "../../../types/transaction.ts";
import type { Batch, Gatherer } from "../../../workers/channel/channel.ts";
import type { Credit } from "../../../workers/channel/credit.ts";
import { packTransactions } from "../../core/packedTransactions.ts";
import { ADDED, DROPPED } from "../interests.ts";
import type { MainChannel, ToThread } from "../messages.ts";

/** Counted for each event beside its bytes, and for each message. */
const EVENT_BYTES = 64;
const MESSAGE_BYTES = 1024;

/**
 * The pool's events for the subscribers of one thread (callerSide/eventFeed.ts): transactions that enter the pool or are dropped from
 * it. Heads are not among them: a thread finds out itself what its view has new.
 *
 *   thread   first subscriber ──> its interest, in shared memory, before the subscription is answered
 *   main     event ──> threads that want it ──> one message for each event-loop cycle, within the limit
 */
export class EventSource implements Gatherer<Batch<Pick<ToThread, "poolEvents">>> {
  private readonly interests: () => number;
  private readonly channel: Pick<MainChannel, "creditOf" | "gather" | "send" | "whenRoom">;
  private readonly credit: Credit;
  private added: SentTransaction[] = [];
  private dropped: Uint8Array[] = [];
  private bytes = 0;
  /** Whether events were lost of which the thread has not been told. */
  private areLost = false;
  private isTelling = false;

  /** `interests` are the kinds of events that the thread wants. */
  constructor(
    interests: () => number,
    channel: Pick<MainChannel, "creditOf" | "gather" | "send" | "whenRoom">,
  ) {
    this.interests = interests;
    this.channel = channel;
    this.credit = channel.creditOf("poolEvents");
  }

  onAdded(transaction: SentTransaction): void {
    if (this.admits(ADDED, transaction.raw.length + EVENT_BYTES)) this.added.push(transaction);
  }

  onDropped({ hash }: Pick<SentTransaction, "hash">): void {
    if (this.admits(DROPPED, EVENT_BYTES)) this.dropped.push(hash);
  }

  takeBatch(): Batch<Pick<ToThread, "poolEvents">> {
    const { added, dropped, bytes, areLost } = this;
    const packed = packTransactions(added);
    const hashes = new Uint8Array(32 * dropped.length);
    for (const [index, hash] of dropped.entries()) hashes.set(hash, 32 * index);
    this.added = [];
    this.dropped = [];
    this.bytes = 0;
    this.areLost = false;
    return {
      kind: "poolEvents",
      content: { added: packed, dropped: hashes, areLost },
      messages: added.length + dropped.length,
      bytes,
      transferred: [packed.buffer, hashes.buffer],
    };
  }

  /** Makes room for an event; false when it is lost, or not wanted. */
  private admits(kind: number, eventBytes: number): boolean {
    if ((this.interests() & kind) === 0) return false;
    const isFirst = this.bytes === 0;
    const bytes = isFirst ? MESSAGE_BYTES + eventBytes : eventBytes;
    if (!this.credit.take(1, bytes)) {
      if (!this.credit.isUnused) {
        this.lose();
        return false;
      }
      // What is larger than the limit finds room where nothing else is.
      this.credit.takeBeyond(1, bytes);
    }
    if (isFirst) this.channel.gather(this);
    this.bytes += bytes;
    return true;
  }

  private lose(): void {
    this.areLost = true;
    if (this.isTelling) return;
    this.isTelling = true;
    void this.channel.whenRoom(() => {
      this.isTelling = !this.hasToldLoss();
      return !this.isTelling;
    });
  }

  /** Tells the thread of a loss once it has worked on half of what is before it, unless other events have told it meanwhile. */
  private hasToldLoss(): boolean {
    if (!this.areLost) return true;
    if (!this.credit.isHalfFree || this.bytes > 0) return false;
    this.areLost = false;
    const none = { added: packTransactions([]), dropped: new Uint8Array(0), areLost: true };
    this.channel.send("poolEvents", none, 1, MESSAGE_BYTES);
    return true;
  }
}
