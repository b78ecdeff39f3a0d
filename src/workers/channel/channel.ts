import { expectDefined } from "../../primitives/assert.ts";
import { Credit, type CreditMemory, type LimitedKind } from "./credit.ts";

/** Messages of one kind: the sender takes `messages` and `bytes` of the kind's credit, and the receiver gives them back. */
export type Batch<Contents> = {
  readonly [Kind in keyof Contents]: BatchOf<Kind, Contents[Kind]>;
}[keyof Contents];

interface BatchOf<Kind, Content> {
  readonly kind: Kind;
  readonly content: Content;
  readonly messages: number;
  readonly bytes: number;
  /** Memory in the content that is handed over, not copied. */
  readonly transferred?: readonly ArrayBuffer[];
}

/**
 * What is posted: kind, content, messages and bytes of one batch after the other. An object for each would cost both threads half as
 * much again as a small message does.
 */
export type Posted<Contents> = readonly (keyof Contents | Contents[keyof Contents] | number)[];

const BATCH_LENGTH = 4;

/** What gathers messages of one kind until the end of an event-loop cycle. */
export interface Gatherer<GatheredBatch> {
  takeBatch(): GatheredBatch;
  /** Called with a batch that cannot be cloned, which otherwise fails this thread. */
  cannotSend?(batch: GatheredBatch): void;
}

/** Handlers of each kind of message. Credit is given back when one returns, or when its promise resolves. */
export type Handlers<Contents> = {
  readonly [Kind in keyof Contents]: (content: Contents[Kind]) => unknown;
};

/** Polling interval of senders while the receiver is held up. */
const ROOM_CHECK_MS = 10;

/**
 * One end of what two threads send one another, within the limits of each kind of message (credit.ts):
 *
 *   send, offer ──────────────────────────────────────────┐
 *   gather ──(end of the event-loop cycle)── one message ──┴──> receive ──> handler ──> credit given back
 *
 * `offer` refuses what is beyond the limit; its caller drops it, merges it, or waits with `whenRoom`. Gathered messages are posted
 * together, since each post wakes the other thread. Messages that are sent at once overtake them.
 */
export class Channel<Sent extends object, Received extends object> {
  private readonly post: (posted: Posted<Sent>, transferred: readonly ArrayBuffer[]) => void;
  private readonly credits: ReadonlyMap<keyof Sent | keyof Received, Credit>;
  /** Those that gathered something in this cycle. */
  private due: Gatherer<Batch<Sent>>[] = [];
  private dropped = false;

  /** `thread` is the index of the thread that is at one of the ends. */
  constructor(
    limits: Readonly<Record<keyof Sent | keyof Received, LimitedKind>>,
    { memory, thread }: { readonly memory: CreditMemory; readonly thread: number },
    post: (posted: Posted<Sent>, transferred: readonly ArrayBuffer[]) => void,
  ) {
    this.post = post;
    const kinds = Object.keys(limits) as (string & (keyof Sent | keyof Received))[];
    this.credits = new Map(kinds.map((kind) => [kind, new Credit(limits, kind, memory, thread)]));
  }

  creditOf(kind: keyof Sent | keyof Received): Credit {
    return expectDefined(this.credits.get(kind), "the credit of a kind of message");
  }

  /** Sends a message at once, and counts it also where it is beyond the limit. */
  send<Kind extends keyof Sent>(kind: Kind, content: Sent[Kind], messages = 0, bytes = 0): void {
    if (this.dropped) return;
    if (messages > 0) this.creditOf(kind).takeBeyond(messages, bytes);
    this.postOne(kind, content, messages, bytes);
  }

  /** Sends a message at once, or refuses it when it is beyond the limit. */
  offer<Kind extends keyof Sent>(kind: Kind, content: Sent[Kind], messages = 1, bytes = 0): boolean {
    if (this.dropped) return true;
    if (!this.creditOf(kind).take(messages, bytes)) return false;
    this.postOne(kind, content, messages, bytes);
    return true;
  }

  /**
   * Takes a batch at the end of this event-loop cycle; called with the first message of each batch. The credit of its messages has
   * been taken by then.
   */
  gather(gatherer: Gatherer<Batch<Sent>>): void {
    if (this.due.length === 0) setImmediate(() => this.sendGathered());
    this.due.push(gatherer);
  }

  /** Calls `isRoom` now and then; resolves once it returns true, or when this end is dropped. */
  async whenRoom(isRoom: () => boolean): Promise<void> {
    while (!this.dropped && !isRoom()) await new Promise((resolve) => setTimeout(resolve, ROOM_CHECK_MS));
  }

  receive(posted: Posted<Received>, handlers: Handlers<Received>): void {
    for (let at = 0; at < posted.length; at += BATCH_LENGTH) {
      // The other end's `post` was called with elements of these types, hence the casts.
      const kind = posted[at] as keyof Received;
      const handler = handlers[kind] as (content: unknown) => unknown;
      const messages = posted[at + 2] as number;
      const bytes = posted[at + 3] as number;
      const done = handler(posted[at + 1]);
      if (messages === 0) continue;
      if (done instanceof Promise) void done.then(() => this.giveBack(kind, messages, bytes));
      else this.giveBack(kind, messages, bytes);
    }
  }

  /** Called when the other thread has ended: nothing more is sent, and nothing waits. */
  drop(): void {
    this.dropped = true;
  }

  get isDropped(): boolean {
    return this.dropped;
  }

  private giveBack(kind: keyof Received, messages: number, bytes: number): void {
    if (!this.dropped) this.creditOf(kind).giveBack(messages, bytes);
  }

  private postOne<Kind extends keyof Sent>(
    kind: Kind,
    content: Sent[Kind],
    messages: number,
    bytes: number,
  ): void {
    try {
      this.post([kind, content, messages, bytes], NONE);
    } catch (error) {
      if (messages > 0) this.creditOf(kind).giveBack(messages, bytes);
      throw error;
    }
  }

  private sendGathered(): void {
    const gatherers = this.due;
    this.due = [];
    if (this.dropped) return;
    const batches = gatherers.map((gatherer) => gatherer.takeBatch());
    try {
      this.postBatches(batches);
    } catch {
      // One of them cannot be cloned. The others still have their memory: it is handed over after everything is cloned.
      for (const [index, batch] of batches.entries()) this.sendSingly(batch, gatherers[index]);
    }
  }

  private sendSingly(batch: Batch<Sent>, gatherer: Gatherer<Batch<Sent>> | undefined): void {
    try {
      this.postBatches([batch]);
    } catch (error) {
      if (gatherer?.cannotSend === undefined) throw error;
      gatherer.cannotSend(batch);
    }
  }

  private postBatches(batches: readonly Batch<Sent>[]): void {
    const posted: Posted<Sent>[number][] = [];
    let transferred = NONE;
    for (const batch of batches) {
      posted.push(batch.kind, batch.content, batch.messages, batch.bytes);
      if (batch.transferred !== undefined) transferred = [...transferred, ...batch.transferred];
    }
    // The same memory may stand in two places of an answer.
    this.post(posted, transferred.length > 1 ? [...new Set(transferred)] : transferred);
  }
}

const NONE: readonly ArrayBuffer[] = [];
