import { expectDefined } from "../primitives/assert.ts";
import type { Requester } from "../primitives/requester.ts";

/**
 * Work that waits, taken from the machines that ask in turn, one piece of each, and of one machine from its clients in
 * turn: nobody waits behind all that somebody else has asked for, however many connections that one has opened. The work
 * of one client keeps its order. When more waits than may, whoever has most waiting loses what it asked for last.
 */
export class FairQueue<Item extends { readonly requester: Requester }> {
  private readonly limit: () => number;
  /** By machine, whose turn is next first; none is empty. */
  private remoteHosts = new Map<string, Line<Item>>();
  private count = 0;

  /** How many may wait; asked again each time. */
  constructor(limit: number | (() => number)) {
    this.limit = typeof limit === "number" ? () => limit : limit;
  }

  get size(): number {
    return this.count;
  }

  /** What has to go instead, which may be the item itself. */
  add(item: Item): Item | undefined {
    this.append(item.requester, [item]);
    return this.count > this.limit() ? this.dropNewest(item.requester) : undefined;
  }

  /** The next in turn, of the machines that `mayCome`; of all of them unless given. */
  take(mayCome?: (remoteHost: string) => boolean): Item | undefined {
    for (const [remoteHost, line] of this.remoteHosts) {
      if (mayCome?.(remoteHost) === false) continue;
      for (const [client, queue] of line.clients) {
        const item = queue.shift();
        this.removed(remoteHost, line, client, queue);
        moveToEnd(line.clients, client);
        moveToEnd(this.remoteHosts, remoteHost);
        return item;
      }
    }
    return undefined;
  }

  /**
   * Puts back what was taken in this order, to the head; all of it, even if that is more than may wait. The turn of the
   * client, and of the machine, for whom `done` was done meanwhile comes after those of all others.
   */
  putBack(items: readonly Item[], done: Requester | undefined): void {
    const others = this.remoteHosts;
    this.remoteHosts = new Map();
    this.count = 0;
    for (const item of items) this.append(item.requester, [item]);
    for (const [remoteHost, { clients }] of others)
      for (const [client, queue] of clients) this.append({ remoteHost, client }, queue);
    if (done === undefined) return;
    const line = this.remoteHosts.get(done.remoteHost);
    if (line !== undefined) moveToEnd(line.clients, done.client);
    moveToEnd(this.remoteHosts, done.remoteHost);
  }

  /** Takes out what nobody waits for any more. */
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
    const line = this.remoteHosts.get(remoteHost) ?? { clients: new Map<object, Item[]>(), count: 0 };
    const queue = line.clients.get(client);
    if (queue === undefined) line.clients.set(client, items);
    else for (const item of items) queue.push(item);
    line.count += items.length;
    this.remoteHosts.set(remoteHost, line);
    this.count += items.length;
  }

  /** The newest of the client with most on the machine with most; of equals it is the newcomer who loses. */
  private dropNewest(newcomer: Requester): Item {
    const [remoteHost, line] = most(this.remoteHosts, newcomer.remoteHost, ({ count }) => count);
    const [client, queue] = most(line.clients, newcomer.client, ({ length }) => length);
    const newest = expectDefined(queue.pop(), "a client in the queue has something waiting");
    this.removed(remoteHost, line, client, queue);
    return newest;
  }

  /** Counts that one of the client's items has gone. */
  private removed(remoteHost: string, line: Line<Item>, client: object, queue: readonly Item[]): void {
    if (queue.length === 0) line.clients.delete(client);
    line.count--;
    if (line.count === 0) this.remoteHosts.delete(remoteHost);
    this.count--;
  }
}

/** What waits for the clients of one machine. */
interface Line<Item> {
  /** Whose turn is next first; none is empty. */
  readonly clients: Map<object, Item[]>;
  /** Of all of them together. */
  count: number;
}

function moveToEnd<Key, Value>(map: Map<Key, Value>, key: Key): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}

/** The entry with the largest size; of several that of `preferred`, or else the last. */
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
