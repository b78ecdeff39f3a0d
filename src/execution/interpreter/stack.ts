import { EVMError } from "@ethereumjs/evm";

/** The stack of one frame. The methods are those that the library's instructions use; ours use the same. */
export class Stack {
  length = 0;
  /** Those from `length` on are leftovers. */
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

  /** Throws unless there are `count` items. */
  need(count: number): void {
    if (this.length < count) throw new EVMError(EVMError.errorMessages.STACK_UNDERFLOW);
  }

  /** The item `depth` places below the top, which is at 0. */
  at(depth: number): bigint {
    if (depth >= this.length) throw new EVMError(EVMError.errorMessages.STACK_UNDERFLOW);
    return this.items[this.length - 1 - depth] as bigint;
  }

  /** Puts a word in the place of the topmost `count` items. */
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

  /** Exchanges the top with the item `depth` places below it. */
  swap(depth: number): void {
    if (this.length <= depth) throw new EVMError(EVMError.errorMessages.STACK_UNDERFLOW);
    const top = this.length - 1;
    const item = this.items[top] as bigint;
    this.items[top] = this.items[top - depth] as bigint;
    this.items[top - depth] = item;
  }

  /** Pushes a copy of the item that is number `place` from the top, which is number 1. */
  dup(place: number): void {
    this.push(this.at(place - 1));
  }

  getStack(): bigint[] {
    return this.items.slice(0, this.length);
  }
}
