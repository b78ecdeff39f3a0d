import { randomInt } from "node:crypto";

/**
 * The connections of several threads that serve one port, counted in memory that they share, so that limits hold for all
 * together. Each thread writes its own numbers alone.
 */
export interface SharedConnections {
  added(remoteHost: string): void;
  removed(remoteHost: string): void;
  /** Connections of the other threads. */
  readonly others: number;
  /**
   * Connections of the other threads from that host. Counted by two hashes of its name, the smaller one of which counts:
   * rarely too many, never too few.
   */
  othersOf(remoteHost: string): number;
}

/** The numbers of all threads: for each its connections, then those by the first and by the second hash. */
export interface ConnectionMemory {
  readonly memory: SharedArrayBuffer;
  /** Random, so that nobody can choose addresses with the same hashes. */
  readonly seeds: readonly [number, number];
  readonly threads: number;
}

const BUCKETS = 4096;
const NUMBERS_PER_THREAD = 1 + 2 * BUCKETS;

export function createConnectionMemory(threads: number): ConnectionMemory {
  const seed = (): number => randomInt(2 ** 32);
  return {
    memory: new SharedArrayBuffer(4 * NUMBERS_PER_THREAD * threads),
    seeds: [seed(), seed()],
    threads,
  };
}

/** Connections of all threads. */
export function allConnections({ memory, threads }: ConnectionMemory): number {
  const numbers = new Int32Array(memory);
  let sum = 0;
  for (let thread = 0; thread < threads; thread++) sum += Atomics.load(numbers, thread * NUMBERS_PER_THREAD);
  return sum;
}

/** Forgets the connections of a thread that ended. */
export function forgetConnections({ memory }: ConnectionMemory, thread: number): void {
  new Int32Array(memory, 4 * thread * NUMBERS_PER_THREAD, NUMBERS_PER_THREAD).fill(0);
}

/** The numbers as the thread with this index, from 0, counts them. */
export function shareConnections(
  { memory, seeds, threads }: ConnectionMemory,
  own: number,
): SharedConnections {
  const numbers = new Int32Array(memory);
  const placesOf = (remoteHost: string): readonly number[] =>
    seeds.map((seed, row) => 1 + row * BUCKETS + (hashOf(remoteHost, seed) % BUCKETS));

  function change(remoteHost: string, by: 1 | -1): void {
    for (const place of [0, ...placesOf(remoteHost)])
      Atomics.add(numbers, own * NUMBERS_PER_THREAD + place, by);
  }

  function othersAt(place: number): number {
    let sum = 0;
    for (let thread = 0; thread < threads; thread++)
      if (thread !== own) sum += Atomics.load(numbers, thread * NUMBERS_PER_THREAD + place);
    return sum;
  }

  return {
    added: (remoteHost) => change(remoteHost, 1),
    removed: (remoteHost) => change(remoteHost, -1),
    get others() {
      return othersAt(0);
    },
    othersOf: (remoteHost) => Math.min(...placesOf(remoteHost).map(othersAt)),
  };
}

/** FNV-1a of 32 bits, begun with the seed. */
function hashOf(text: string, seed: number): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
