/*
 * Amounts that several threads hold and that have one limit, counted in memory that they share: for each thread a number for each
 * amount, which that thread alone writes.
 */

/** What connections of all threads hold together. */
const AMOUNTS = [
  /** Bytes of large answers over HTTP, those of GraphQL included, that clients have not read to the end. */
  "httpAnswers",
  /** Bytes of all answers over WebSocket and IPC that clients have not read to the end. */
  "messageAnswers",
  /** Bytes of notifications that clients have not read. */
  "notifications",
] as const;
type SharedAmount = (typeof AMOUNTS)[number];

/** One amount, as one thread sees it. */
export interface SharedTotal {
  /** What this thread holds. */
  readonly own: number;
  /** What all threads hold. */
  readonly all: number;
  readonly threads: number;
  /** What this thread may hold at most, whatever the others hold: its heap is limited. */
  readonly mostOfOne: number;
  /** Changes what this thread holds. */
  add(by: number): void;
  set(own: number): void;
}

export type SharedTotals = Readonly<Record<SharedAmount, SharedTotal>>;

/** Numbers of the threads, one after the other. */
export interface TotalsMemory {
  readonly memory: SharedArrayBuffer;
  readonly threads: number;
}

export function createTotalsMemory(threads: number): TotalsMemory {
  return { memory: new SharedArrayBuffer(4 * AMOUNTS.length * threads), threads };
}

/** Forgets what a thread held that ended. */
export function forgetTotals({ memory }: TotalsMemory, thread: number): void {
  new Int32Array(memory, 4 * AMOUNTS.length * thread, AMOUNTS.length).fill(0);
}

/**
 * The amounts as the thread with this index, from 0, counts them. Those of a single thread without `memory`. `most` limits what
 * this thread may hold.
 */
export function shareTotals(
  { memory, threads } = createTotalsMemory(1),
  own = 0,
  most: Partial<Readonly<Record<SharedAmount, number>>> = {},
): SharedTotals {
  const numbers = new Int32Array(memory);
  const totals = AMOUNTS.map((name, amount) => {
    const placeOf = (thread: number): number => thread * AMOUNTS.length + amount;
    const place = placeOf(own);
    const total: SharedTotal = {
      threads,
      mostOfOne: most[name] ?? Number.POSITIVE_INFINITY,
      get own() {
        return Atomics.load(numbers, place);
      },
      get all() {
        let sum = 0;
        for (let thread = 0; thread < threads; thread++) sum += Atomics.load(numbers, placeOf(thread));
        return sum;
      },
      add: (by) => void Atomics.add(numbers, place, by),
      set: (held) => void Atomics.store(numbers, place, held),
    };
    return [name, total] as const;
  });
  return Object.fromEntries(totals) as SharedTotals;
}

/**
 * Whether this thread is to give something up: it holds more than one may, or all hold more than the limit and it more than its
 * part of it. What others hold beyond theirs is theirs to give up.
 */
export function holdsTooMuch(total: SharedTotal, limit: number): boolean {
  return total.own > total.mostOfOne || holdsMoreThanShare(total, limit);
}

/** Whether all hold more than the limit, and this thread more than its part of it. */
export function holdsMoreThanShare(total: SharedTotal, limit: number): boolean {
  return total.own > limit / total.threads && total.all > limit;
}
