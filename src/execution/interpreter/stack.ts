import { EVMError } from "@ethereumjs/evm";

/** The stack of one frame, with the methods that the library's instructions use; ours use the same. */
export class Stack {
  length = 0;
  /** Entries from `length` on are stale. */
  readonly items: bigint[] = [];
  readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  push(item: bigint): void {
    if (this.length >= this.limit) throw new EVMError(EVMError.errorMessages.STACK_OVERFLOW);
    this.items[this.length++] = item;
  }

  pop(): bigint {
    if (this.length === 0) throw new EVMError(EVMError.errorMessages.STACK_UNDERFLOW);
    return this.items[--this.length] as bigint;
  }

  /** Throws if there are fewer than `count` items. */
  need(count: number): void {
    if (this.length < count) throw new EVMError(EVMError.errorMessages.STACK_UNDERFLOW);
  }

  /** The item `depth` positions below the top, which is 0. */
  at(depth: number): bigint {
    if (depth >= this.length) throw new EVMError(EVMError.errorMessages.STACK_UNDERFLOW);
    return this.items[this.length - 1 - depth] as bigint;
  }

  /** Replaces the topmost `count` items by one. */
  replace(count: number, item: bigint): void {
    this.length -= count - 1;
    this.items[this.length - 1] = item;
  }

  drop(count: number): void {
    this.length -= count;
  }

  popN(count = 1): bigint[] {
    this.need(count);
    const items: bigint[] = [];
    for (let n = 0; n < count; n++) items.push(this.items[--this.length] as bigint);
    return items;
  }

  peek(count = 1): bigint[] {
    this.need(count);
    const items: bigint[] = [];
    for (let n = 0; n < count; n++) items.push(this.items[this.length - 1 - n] as bigint);
    return items;
  }

  /** Swaps the top with the item `depth` positions below it. */
  swap(depth: number): void {
    if (this.length <= depth) throw new EVMError(EVMError.errorMessages.STACK_UNDERFLOW);
    const top = this.length - 1;
    const item = this.items[top] as bigint;
    this.items[top] = this.items[top - depth] as bigint;
    this.items[top - depth] = item;
  }

  /** Pushes a copy of the item at `position` from the top, which is 1. */
  dup(position: number): void {
    this.push(this.at(position - 1));
  }

  getStack(): bigint[] {
    return this.items.slice(0, this.length);
  }
}
