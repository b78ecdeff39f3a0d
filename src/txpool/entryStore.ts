import type { StoredEntry } from "./entry.ts";
import type { SenderQueue } from "./senderQueue.ts";

/**
 * The pool's entries by hash and by sender's queue, both or neither, with exact count and bytes. A sender without
 * entries has no queue.
 */
export class EntryStore {
  readonly #byHash = new Map<string, StoredEntry>();
  readonly #queues = new Map<string, SenderQueue>();
  #bytes = 0;
  #local = 0;
  #prioritized = 0;

  /** Memory of the contents of all entries (occupancy.ts). */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#byHash.size;
  }

  get localCount(): number {
    return this.#local;
  }

  get prioritizedCount(): number {
    return this.#prioritized;
  }

  /** Queues of all senders, keyed by hex of the sender. */
  get queues(): ReadonlyMap<string, SenderQueue> {
    return this.#queues;
  }

  has(key: string): boolean {
    return this.#byHash.has(key);
  }

  get(key: string): StoredEntry | undefined {
    return this.#byHash.get(key);
  }

  entries(): Iterable<StoredEntry> {
    return this.#byHash.values();
  }

  /** Inserts the entry into the queue; returns the one that it replaced. */
  insert(entry: StoredEntry, queue: SenderQueue): StoredEntry | undefined {
    this.#queues.set(queue.key, queue);
    const replaced = queue.put(entry);
    if (replaced !== undefined) this.#unlist(replaced);
    this.#byHash.set(entry.key, entry);
    this.#bytes += entry.occupiedBytes;
    if (entry.origin === "local") this.#local++;
    if (entry.isPrioritized) this.#prioritized++;
    return replaced;
  }

  remove(entry: StoredEntry): void {
    const queue = this.#queues.get(entry.senderKey);
    queue?.remove(entry);
    this.#closeIfEmpty(queue);
    this.#unlist(entry);
  }

  /** Follows the sender's nonce on chain; returns the entries removed because their nonces are used. */
  moveTo(queue: SenderQueue, nonce: bigint): readonly StoredEntry[] {
    const used = queue.moveTo(nonce);
    for (const entry of used) this.#unlist(entry);
    this.#closeIfEmpty(queue);
    return used;
  }

  #closeIfEmpty(queue: SenderQueue | undefined): void {
    if (queue?.isEmpty) this.#queues.delete(queue.key);
  }

  #unlist(entry: StoredEntry): void {
    this.#byHash.delete(entry.key);
    this.#bytes -= entry.occupiedBytes;
    if (entry.origin === "local") this.#local--;
    if (entry.isPrioritized) this.#prioritized--;
  }
}
