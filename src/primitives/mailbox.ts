import { assert } from "./assert.ts";

/**
 * A bounded queue with one reader: changes to shared state go through it one at a time, in order.
 * `post` returns false when the queue is full, and the caller decides what that means.
 */
export interface Mailbox<T> {
  post(item: T): boolean;
  /** Items in the queue, without the one being read. */
  readonly size: number;
  /** Stops reading after the current item; resolves when it is done. Later posts are refused. */
  close(): Promise<void>;
}

/** Reads items strictly one after another; `read` may be slow. When it throws, calls `onFailure` and closes the box. */
export function createMailbox<T>(
  limit: number,
  read: (item: T) => void | Promise<void>,
  onFailure: (error: unknown) => void,
): Mailbox<T> {
  assert(limit > 0, "a mailbox holds at least one item");
  const items: T[] = [];
  let closed = false;
  let reading: Promise<void> | undefined;

  async function readAll(): Promise<void> {
    for (let item = items.shift(); item !== undefined && !closed; item = items.shift()) {
      try {
        await read(item);
      } catch (error) {
        closed = true;
        onFailure(error);
      }
    }
    reading = undefined;
  }

  return {
    post(item) {
      if (closed || items.length >= limit) return false;
      items.push(item);
      reading ??= Promise.resolve().then(readAll);
      return true;
    },
    get size() {
      return items.length;
    },
    async close() {
      closed = true;
      items.length = 0;
      await reading;
    },
  };
}
