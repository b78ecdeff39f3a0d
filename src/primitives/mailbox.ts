import { assert } from "./assert.ts";

/**
 * A bounded queue with one reader: changes to shared state go through it one at a time, in order.
 * `post` returns false when the queue is full, and the caller decides what that means.
 */
export class Mailbox<T> {
  private readonly limit: number;
  private readonly read: (item: T) => void | Promise<void>;
  private readonly onFailure: (error: unknown) => void;
  private readonly items: T[] = [];
  private closed = false;
  private reading: Promise<void> | undefined;

  /** Reads items strictly one after another; `read` may be slow. When it throws, calls `onFailure` and closes the box. */
  constructor(limit: number, read: (item: T) => void | Promise<void>, onFailure: (error: unknown) => void) {
    assert(limit > 0, "a mailbox holds at least one item");
    this.limit = limit;
    this.read = read;
    this.onFailure = onFailure;
  }

  post(item: T): boolean {
    if (this.closed || this.items.length >= this.limit) return false;
    this.items.push(item);
    this.reading ??= Promise.resolve().then(() => this.readAll());
    return true;
  }

  /** Items in the queue, without the one being read. */
  get size(): number {
    return this.items.length;
  }

  /** Stops reading after the current item; resolves when it is done. Later posts are refused. */
  async close(): Promise<void> {
    this.closed = true;
    this.items.length = 0;
    await this.reading;
  }

  private async readAll(): Promise<void> {
    for (let item = this.items.shift(); item !== undefined && !this.closed; item = this.items.shift()) {
      try {
        await this.read(item);
      } catch (error) {
        this.closed = true;
        this.onFailure(error);
      }
    }
    this.reading = undefined;
  }
}
