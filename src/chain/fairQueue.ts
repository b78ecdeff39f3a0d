import type { Asker } from "../primitives/asker.ts";

/**
 * Work that waits, taken from the clients in turn, one piece of each: nobody waits behind all that somebody else has
 * asked for. The work of one client keeps its order.
 */
export class FairQueue<Item extends { readonly asker: Asker }> {
  /** By client, whose turn is next first; none is empty. */
  private queues = new Map<object, Item[]>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(item: Item): void {
    const queue = this.queues.get(item.asker.client);
    if (queue === undefined) this.queues.set(item.asker.client, [item]);
    else queue.push(item);
    this.count++;
  }

  take(): Item | undefined {
    for (const [client, queue] of this.queues) {
      const item = queue.shift();
      this.queues.delete(client);
      if (queue.length > 0) this.queues.set(client, queue);
      this.count--;
      return item;
    }
    return undefined;
  }

  /**
   * Puts back what was taken in this order, to the head. The turn of the client for whom `done` was done meanwhile comes
   * after those of all others.
   */
  putBack(items: readonly Item[], done: Asker | undefined): void {
    const queues = new Map<object, Item[]>();
    for (const item of items) queues.set(item.asker.client, [...(queues.get(item.asker.client) ?? []), item]);
    for (const [client, queue] of this.queues) queues.set(client, (queues.get(client) ?? []).concat(queue));
    const own = done === undefined ? undefined : queues.get(done.client);
    if (done !== undefined && own !== undefined) {
      queues.delete(done.client);
      queues.set(done.client, own);
    }
    this.queues = queues;
    this.count += items.length;
  }

  /** Takes out what nobody waits for any more. */
  takeAbandoned(): readonly Item[] {
    const abandoned: Item[] = [];
    for (const item of this.takeAll()) {
      if (item.asker.isAbandoned()) abandoned.push(item);
      else this.add(item);
    }
    return abandoned;
  }

  takeAll(): readonly Item[] {
    const all = [...this.queues.values()].flat();
    this.queues.clear();
    this.count = 0;
    return all;
  }
}
