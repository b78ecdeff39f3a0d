import { expectDefined } from "./assert.ts";
import type { Requester } from "./requester.ts";

/**
 * A queue with round-robin scheduling: over remote hosts, one item each, and within a remote host over its clients. No
 * requester waits behind all items of another, however many connections that one opens. Items of one client keep their
 * order. When the queue is full, the requester with the most items loses its newest one.
 */
export class FairQueue<Item extends { readonly requester: Requester }> {
  private readonly limit: () => number;
  /** Items by remote host, the next one to serve first; none is empty. */
  private remoteHosts = new Map<string, HostQueue<Item>>();
  private count = 0;

  /** `limit` is the maximum number of items; a function is called at each insertion. */
  constructor(limit: number | (() => number)) {
    this.limit = typeof limit === "number" ? () => limit : limit;
  }

  get size(): number {
    return this.count;
  }

  /** Adds an item. Returns the item dropped for it, which may be the item itself. */
  add(item: Item): Item | undefined {
    this.append(item.requester, [item]);
    return this.count > this.limit() ? this.dropNewest(item.requester) : undefined;
  }

  /** Removes the next item, of the remote hosts that `isEligible` accepts if given. */
  take(isEligible?: (remoteHost: string) => boolean): Item | undefined {
    for (const [remoteHost, hostQueue] of this.remoteHosts) {
      if (isEligible?.(remoteHost) === false) continue;
      for (const [client, queue] of hostQueue.clients) {
        const item = queue.shift();
        this.removed(remoteHost, hostQueue, client, queue);
        moveToEnd(hostQueue.clients, client);
        moveToEnd(this.remoteHosts, remoteHost);
        return item;
      }
    }
    return undefined;
  }

  /**
   * Puts items back at the front, in the order in which they were taken, even beyond the limit. The client and the remote
   * host of `served`, who were served meanwhile, are scheduled after all others.
   */
  putBack(items: readonly Item[], served: Requester | undefined): void {
    const others = this.remoteHosts;
    this.remoteHosts = new Map();
    this.count = 0;
    for (const item of items) this.append(item.requester, [item]);
    for (const [remoteHost, { clients }] of others)
      for (const [client, queue] of clients) this.append({ remoteHost, client }, queue);
    if (served === undefined) return;
    const hostQueue = this.remoteHosts.get(served.remoteHost);
    if (hostQueue !== undefined) moveToEnd(hostQueue.clients, served.client);
    moveToEnd(this.remoteHosts, served.remoteHost);
  }

  /** Removes the items whose requesters are gone. */
  takeAbandoned(): readonly Item[] {
    const abandoned: Item[] = [];
    for (const item of this.takeAll()) {
      if (item.requester.isAbandoned()) abandoned.push(item);
      else this.append(item.requester, [item]);
    }
    return abandoned;
  }

  takeAll(): readonly Item[] {
    const all = [...this.remoteHosts.values()].flatMap(({ clients }) => [...clients.values()].flat());
    this.remoteHosts.clear();
    this.count = 0;
    return all;
  }

  private append({ remoteHost, client }: Pick<Requester, "remoteHost" | "client">, items: Item[]): void {
    const hostQueue = this.remoteHosts.get(remoteHost) ?? { clients: new Map<object, Item[]>(), count: 0 };
    const queue = hostQueue.clients.get(client);
    if (queue === undefined) hostQueue.clients.set(client, items);
    else for (const item of items) queue.push(item);
    hostQueue.count += items.length;
    this.remoteHosts.set(remoteHost, hostQueue);
    this.count += items.length;
  }

  /** Drops the newest item of the client with most items on the remote host with most; among equals that of `adder`. */
  private dropNewest(adder: Requester): Item {
    const [remoteHost, hostQueue] = most(this.remoteHosts, adder.remoteHost, ({ count }) => count);
    const [client, queue] = most(hostQueue.clients, adder.client, ({ length }) => length);
    const newest = expectDefined(queue.pop(), "a client in the queue has an item");
    this.removed(remoteHost, hostQueue, client, queue);
    return newest;
  }

  /** Updates the counts after one of the client's items was removed. */
  private removed(
    remoteHost: string,
    hostQueue: HostQueue<Item>,
    client: object,
    queue: readonly Item[],
  ): void {
    if (queue.length === 0) hostQueue.clients.delete(client);
    hostQueue.count--;
    if (hostQueue.count === 0) this.remoteHosts.delete(remoteHost);
    this.count--;
  }
}

/** Items of the clients of one remote host. */
interface HostQueue<Item> {
  /** By client, the next one to serve first; none is empty. */
  readonly clients: Map<object, Item[]>;
  /** Number of items of all clients. */
  count: number;
}

function moveToEnd<Key, Value>(map: Map<Key, Value>, key: Key): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}

/** The entry with the largest size; among equals `preferred`, or else the last. */
function most<Key, Value>(
  map: ReadonlyMap<Key, Value>,
  preferred: Key,
  sizeOf: (value: Value) => number,
): readonly [Key, Value] {
  let largest: readonly [Key, Value] | undefined;
  for (const entry of map) {
    const more = largest === undefined ? 1 : sizeOf(entry[1]) - sizeOf(largest[1]);
    if (more > 0 || (more === 0 && largest?.[0] !== preferred)) largest = entry;
  }
  return expectDefined(largest, "a full queue has a largest part");
}
