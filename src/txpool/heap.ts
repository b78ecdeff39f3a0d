/** A binary heap: the first item is available at once, changes cost O(log n). */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #items: T[];

  /** Takes over `items`, in any order. */
  constructor(isBefore: (a: T, b: T) => boolean, items: T[] = []) {
    this.#isBefore = isBefore;
    this.#items = items;
    for (let at = (items.length >> 1) - 1; at >= 0; at--) this.#sink(at);
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(this.#items.length - 1);
  }

  pop(): T | undefined {
    const top = this.#items[0];
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) {
      this.#items[0] = last;
      this.#sink(0);
    }
    return top;
  }

  /** Must be called after the top item was changed in place. */
  topChanged(): void {
    if (this.#items.length > 1) this.#sink(0);
  }

  #rise(from: number): void {
    const items = this.#items;
    const item = items[from] as T; // Every caller passes a checked index.
    let at = from;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = items[parentAt] as T;
      if (!this.#isBefore(item, parent)) break;
      items[at] = parent;
      at = parentAt;
    }
    items[at] = item;
  }

  #sink(from: number): void {
    const items = this.#items;
    const item = items[from] as T;
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= items.length) break;
      const right = left + 1;
      const isRightFirst = right < items.length && this.#isBefore(items[right] as T, items[left] as T);
      const childAt = isRightFirst ? right : left;
      const child = items[childAt] as T;
      if (!this.#isBefore(child, item)) break;
      items[at] = child;
      at = childAt;
    }
    items[at] = item;
  }
}
