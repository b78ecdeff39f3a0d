import type { Log } from "@ethereumjs/evm";

/** The sizes of a substate at some point. */
export interface SubstateMark {
  readonly logs: number;
  readonly destroyed: number;
  readonly created: number;
}

/**
 * What a top-level message collects besides the state (yellow paper §6.1): logs, accounts to destroy, accounts created.
 * All its frames share one, and the additions of a failed frame are truncated. The library copies it for each frame
 * instead, which takes seconds once there are thousands of entries.
 */
export class Substate {
  readonly logs: Log[] = [];
  /** Keys in insertion order; the library maps each account to its beneficiary. */
  readonly destroyed = new GrowingMap<`0x${string}`, `0x${string}`>();
  readonly created = new GrowingSet<`0x${string}`>();

  /** A mark for revertTo. */
  mark(): SubstateMark {
    return { logs: this.logs.length, destroyed: this.destroyed.size, created: this.created.size };
  }

  /** Removes what was added since the mark. */
  revertTo({ logs, destroyed, created }: SubstateMark): void {
    this.logs.length = logs;
    this.destroyed.shrinkTo(destroyed);
    this.created.shrinkTo(created);
  }
}

/** A map that can remove the keys added last. */
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
