import type { Address } from "../primitives/address.ts";
import type { RecoveryItem } from "../primitives/recoveryBatch.ts";

/** Signers in the order of their items; undefined where a signature is invalid. */
type Addresses = (Address | undefined)[];

interface RecoveryRequest {
  readonly items: readonly RecoveryItem[];
  readonly addresses: Addresses;
  /** Items sent to a worker. */
  sent: number;
  /** Items answered; workers may answer in any order. */
  answered: number;
  /** Set once the request fails. */
  failure: Error | undefined;
  /** The request after this one. */
  next: RecoveryRequest | undefined;
  resolve(addresses: Addresses): void;
  reject(error: Error): void;
}

/** Part of a batch: `count` items of one request. */
export interface Share {
  readonly request: RecoveryRequest;
  readonly from: number;
  readonly count: number;
}

/** Requests of one urgency, answered in their order. */
export class RecoveryLane {
  /** Items not yet sent to a worker. */
  waitingItems = 0;
  /** Unanswered requests as a linked list, so that removing the oldest moves no other. */
  private oldest: RecoveryRequest | undefined;
  private newest: RecoveryRequest | undefined;
  /** The oldest request with items not yet sent. */
  private firstWaiting: RecoveryRequest | undefined;

  /** Adds a request whose items wait for a worker. */
  wait(items: readonly RecoveryItem[]): Promise<Addresses> {
    return new Promise((resolve, reject) => {
      const request = this.add(items, resolve, reject);
      this.firstWaiting ??= request;
      this.waitingItems += items.length;
    });
  }

  /** Adds a request whose items were recovered already; it is answered after those before it. */
  addRecovered(
    items: readonly RecoveryItem[],
    addresses: readonly (Address | undefined)[],
  ): Promise<Addresses> {
    return new Promise((resolve, reject) => {
      const request = this.add(items, resolve, reject);
      request.sent = items.length;
      accept([{ request, from: 0, count: items.length }], addresses);
      this.answerOldest();
    });
  }

  /** Takes up to `limit` items for a worker, the oldest first. */
  take(limit: number): readonly Share[] {
    const shares: Share[] = [];
    let left = limit;
    let request = this.firstWaiting;
    while (request !== undefined && left > 0) {
      const from = request.sent;
      const count = Math.min(request.items.length - from, left);
      shares.push({ request, from, count });
      request.sent += count;
      left -= count;
      while (request !== undefined && request.sent === request.items.length) request = request.next;
    }
    this.firstWaiting = request;
    this.waitingItems -= limit - left;
    return shares;
  }

  /** Answers requests from the oldest on, until one is incomplete. */
  answerOldest(): void {
    for (let request = this.oldest; request !== undefined; request = request.next) {
      if (request.failure !== undefined) request.reject(request.failure);
      else if (request.answered === request.items.length) request.resolve(request.addresses);
      else break;
      this.oldest = request.next;
    }
    if (this.oldest === undefined) this.newest = undefined;
  }

  rejectAll(failure: Error): void {
    this.firstWaiting = undefined;
    this.waitingItems = 0;
    for (let request = this.oldest; request !== undefined; request = request.next)
      request.failure ??= failure;
    this.answerOldest();
  }

  private add(
    items: readonly RecoveryItem[],
    resolve: RecoveryRequest["resolve"],
    reject: RecoveryRequest["reject"],
  ): RecoveryRequest {
    const request: RecoveryRequest = {
      items,
      addresses: new Array(items.length),
      sent: 0,
      answered: 0,
      failure: undefined,
      next: undefined,
      resolve,
      reject,
    };
    if (this.newest === undefined) this.oldest = request;
    else this.newest.next = request;
    this.newest = request;
    return request;
  }
}

/** The items of a batch, in the order of their shares. */
export function itemsOf(shares: readonly Share[]): readonly RecoveryItem[] {
  return shares.flatMap(({ request, from, count }) => request.items.slice(from, from + count));
}

/** Stores the addresses of a batch in its requests. */
export function accept(shares: readonly Share[], addresses: readonly (Address | undefined)[]): void {
  let at = 0;
  for (const { request, from, count } of shares) {
    for (let index = from; index < from + count; index++) request.addresses[index] = addresses[at++];
    request.answered += count;
  }
}
