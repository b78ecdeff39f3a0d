import type { Log } from "@ethereumjs/evm";

/** How much a substate held at some moment. */
export interface SubstateMark {
  readonly logs: number;
  readonly destroyed: number;
  readonly created: number;
}

/**
 * What a message from outside gathers beside the state (yellow paper §6.1): logs, accounts to destroy, accounts created.
 * All its frames share one, and what a failed frame added is cut off again. The library hands each frame a copy instead,
 * which takes seconds once there are thousands.
 */
export class Substate {
  readonly logs: Log[] = [];
  /** Keys in the order in which they were added; the library keeps the heir beside the account. */
  readonly destroyed = new GrowingMap<`0x${string}`, `0x${string}`>();
  readonly created = new GrowingSet<`0x${string}`>();

  /** To come back to by revertTo. */
  mark(): SubstateMark {
    return { logs: this.logs.length, destroyed: this.destroyed.size, created: this.created.size };
  }

  /** Forgets what was added since. */
  revertTo({ logs, destroyed, created }: SubstateMark): void {
    this.logs.length = logs;
    this.destroyed.shrinkTo(destroyed);
    this.created.shrinkTo(created);
  }
}

/** A map that can forget the keys that were added last. The library sees a map. */
class GrowingMap<Key, Value> extends Map<Key, Value> {
  private readonly order: Key[] = [];

  override set(key: Key, value: Value): this {
    if (!this.has(key)) this.order.push(key);
    return super.set(key, value);
  }

  shrinkTo(size: number): void {
    for (const key of this.order.splice(size)) this.delete(key);
  }
}

/** As GrowingMap, for a set. */
class GrowingSet<Value> extends Set<Value> {
  private readonly order: Value[] = [];

  override add(value: Value): this {
    if (!this.has(value)) this.order.push(value);
    return super.add(value);
  }

  shrinkTo(size: number): void {
    for (const value of this.order.splice(size)) this.delete(value);
  }
}
