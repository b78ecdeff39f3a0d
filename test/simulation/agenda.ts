/** Event queue in virtual time: earliest first, and in order of insertion for equal times. */
export interface Agenda {
  readonly nowMs: number;
  /** When the next event is due; undefined when the queue is empty. */
  readonly nextMs: number | undefined;
  plan(atMs: number, action: () => void): void;
  /** Runs all events due until `endMs`, and sets the time to it. */
  runUntil(endMs: number): void;
}

interface Entry {
  readonly atMs: number;
  readonly sequence: number;
  readonly action: () => void;
}

export function createAgenda(): Agenda {
  const heap: Entry[] = [];
  let sequence = 0;
  let nowMs = 0;

  const isBefore = (a: Entry, b: Entry): boolean =>
    a.atMs < b.atMs || (a.atMs === b.atMs && a.sequence < b.sequence);

  function push(entry: Entry): void {
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || !isBefore(entry, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = entry;
  }

  function pop(): Entry | undefined {
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      const isRight = right !== undefined && left !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (child === undefined || !isBefore(child, last)) break;
      heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
    return first;
  }

  return {
    get nowMs() {
      return nowMs;
    },
    get nextMs() {
      return heap[0]?.atMs;
    },
    plan: (atMs, action) => push({ atMs: Math.max(atMs, nowMs), sequence: sequence++, action }),
    runUntil(endMs) {
      for (let next = heap[0]; next !== undefined && next.atMs <= endMs; next = heap[0]) {
        pop();
        nowMs = next.atMs;
        next.action();
      }
      nowMs = endMs;
    },
  };
}
