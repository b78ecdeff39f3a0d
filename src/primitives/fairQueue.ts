import { expectDefined } from "./assert.ts";
import type { Requester } from "./requester.ts";
import type { TimeDebts } from "./timeDebts.ts";

/**
 * A queue with round-robin scheduling: over remote hosts, one item each, and within a remote host over its clients. No
 * requester waits behind all items of another, however many connections the other opens. Items of one client keep their
 * order. When the queue is full, the requester with the most items loses its newest one.
 *
 * With time debts, the remote host that is due first is served, and of its clients the one that is due first: those that
 * took little time lately. Those due at the same time are served in turn.
 */
export class FairQueue<Item extends { readonly requester: Requester }> {
  private readonly limit: () => number;
  private readonly debts: TimeDebts | undefined;
  /** Items by remote host; among hosts that are due together, the next to be served comes first. No queue is empty. */
  private remoteHosts = new Map<string, HostQueue<Item>>();
  private count = 0;

  /** `limit` is the maximum number of items; a function is called at each insertion. */
  constructor(limit: number | (() => number), debts?: TimeDebts) {
    this.limit = typeof limit === "number" ? () => limit : limit;
    this.debts = debts;
  }

  get size(): number {
    return this.count;
  }

  /** Adds an item. Returns the item dropped for it, which may be the item itself. */
  add(item: Item): Item | undefined {
    this.append(item.requester, [item]);
    return this.count > this.limit() ? this.dropNewest(item.requester) : undefined;
  }

  /** Removes the next item, of the requesters that `isEligible` accepts if given. */
  take(isEligible: (requester: Addressed) => boolean = () => true): Item | undefined {
    let next: { readonly at: Addressed; readonly hostDueMs: number; readonly dueMs: number } | undefined;
    for (const [remoteHost, { clients, dueMs: hostDueMs }] of this.remoteHosts) {
      if (next !== undefined && hostDueMs >= next.hostDueMs) continue;
      let first: typeof next;
      for (const [client, { dueMs }] of clients) {
        if (first !== undefined && dueMs >= first.dueMs) continue;
        if (isEligible({ remoteHost, client })) first = { at: { remoteHost, client }, hostDueMs, dueMs };
        if (this.debts === undefined && first !== undefined) break;
      }
      next = first ?? next;
      if (this.debts === undefined && next !== undefined) break;
    }
    return next === undefined ? undefined : this.takeOf(next.at);
  }

  /**
   * Puts items back at the front, in the order in which they were taken, even beyond the limit. Schedules the client and the
   * remote host of `served`, which were served meanwhile, after all others.
   */
  putBack(items: readonly Item[], served: Requester | undefined): void {
    const others = this.remoteHosts;
    this.remoteHosts = new Map();
    this.count = 0;
    for (const item of items) this.append(item.requester, [item]);
    for (const [remoteHost, { clients, dueMs }] of others) {
      for (const [client, queue] of clients) {
        const merged = this.append({ remoteHost, client }, queue.items);
        merged.dueMs = Math.min(merged.dueMs, queue.dueMs);
      }
      const hostQueue = expectDefined(this.remoteHosts.get(remoteHost), "a remote host with items");
      hostQueue.dueMs = Math.min(hostQueue.dueMs, dueMs);
    }
    if (served !== undefined) this.served(served);
  }

  /** Reschedules the waiting items of a requester that was served: by its debt, and after those due at the same time. */
  served({ remoteHost, client }: Addressed): void {
    const hostQueue = this.remoteHosts.get(remoteHost);
    if (hostQueue === undefined) return;
    hostQueue.dueMs = this.dueOfHost(remoteHost);
    moveToEnd(this.remoteHosts, remoteHost);
    const queue = hostQueue.clients.get(client);
    if (queue === undefined) return;
    queue.dueMs = this.dueOfClient(client);
    moveToEnd(hostQueue.clients, client);
  }

  /** Removes the items whose requesters are gone. */
  takeAbandoned(): readonly Item[] {
    const abandoned: Item[] = [];
    for (const [remoteHost, hostQueue] of this.remoteHosts)
      for (const [client, { items }] of hostQueue.clients) {
        const all = items.splice(0);
        for (const item of all) (item.requester.isAbandoned() ? abandoned : items).push(item);
        this.removed({ remoteHost, client }, all.length - items.length);
      }
    return abandoned;
  }

  takeAll(): readonly Item[] {
    const all = [...this.remoteHosts.values()].flatMap(({ clients }) =>
      [...clients.values()].flatMap(({ items }) => items),
    );
    this.remoteHosts.clear();
    this.count = 0;
    return all;
  }

  private takeOf(requester: Addressed): Item {
    const { items } = this.queueOf(requester);
    const item = expectDefined(items.shift(), "a client in the queue has an item");
    this.removed(requester, 1);
    this.served(requester);
    return item;
  }

  private append({ remoteHost, client }: Addressed, items: Item[]): ClientQueue<Item> {
    const hostQueue = this.remoteHosts.get(remoteHost) ?? {
      clients: new Map<object, ClientQueue<Item>>(),
      count: 0,
      dueMs: this.dueOfHost(remoteHost),
    };
    const queue = hostQueue.clients.get(client) ?? { items: [], dueMs: this.dueOfClient(client) };
    for (const item of items) queue.items.push(item);
    hostQueue.clients.set(client, queue);
    hostQueue.count += items.length;
    this.remoteHosts.set(remoteHost, hostQueue);
    this.count += items.length;
    return queue;
  }

  /** Drops the newest item of the client with the most items, on the remote host with the most; `adder` loses a tie. */
  private dropNewest(adder: Requester): Item {
    const [remoteHost, { clients }] = most(this.remoteHosts, adder.remoteHost, ({ count }) => count);
    const [client, { items }] = most(clients, adder.client, (queue) => queue.items.length);
    const newest = expectDefined(items.pop(), "a client in the queue has an item");
    this.removed({ remoteHost, client }, 1);
    return newest;
  }

  /** Updates the counts after some of the client's items were removed. */
  private removed({ remoteHost, client }: Addressed, count: number): void {
    const hostQueue = expectDefined(this.remoteHosts.get(remoteHost), "a remote host with items");
    if (hostQueue.clients.get(client)?.items.length === 0) hostQueue.clients.delete(client);
    hostQueue.count -= count;
    if (hostQueue.count === 0) this.remoteHosts.delete(remoteHost);
    this.count -= count;
  }

  private queueOf({ remoteHost, client }: Addressed): ClientQueue<Item> {
    return expectDefined(this.remoteHosts.get(remoteHost)?.clients.get(client), "a client with items");
  }

  /** Without debts all hosts are due at once, and so are served in turn. */
  private dueOfHost(remoteHost: string): number {
    return this.debts?.dueOfHost(remoteHost) ?? 0;
  }

  private dueOfClient(client: object): number {
    return this.debts?.dueOfClient(client) ?? 0;
  }
}

type Addressed = Pick<Requester, "remoteHost" | "client">;

/** Items of the clients of one remote host. */
interface HostQueue<Item> {
  /** Queues by client; among clients that are due together, the next to be served comes first. No queue is empty. */
  readonly clients: Map<object, ClientQueue<Item>>;
  /** Number of items of all clients. */
  count: number;
  dueMs: number;
}

interface ClientQueue<Item> {
  readonly items: Item[];
  dueMs: number;
}

function moveToEnd<Key, Value>(map: Map<Key, Value>, key: Key): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}

/** The entry with the largest size; in a tie `preferred`, or else the last. */
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
