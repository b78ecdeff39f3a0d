import { randomInt } from "node:crypto";

/**
 * What remote hosts have on several threads, such as connections, counted in memory that the threads share, so that limits hold for
 * all together. Each thread writes its own numbers alone.
 */
export interface SharedHosts {
  /** Changes what the host has on this thread. */
  add(remoteHost: string, by: number): void;
  /** What all hosts have on the other threads. */
  readonly others: number;
  /** What all hosts have on that other thread where they have least; infinite without another thread. */
  readonly leastOfOthers: number;
  /**
   * What that host has on the other threads. Counted by two hashes of its name, the smaller one of which counts: rarely too
   * much, never too little.
   */
  othersOf(remoteHost: string): number;
}

/** The numbers of all threads: for each the sum, then those by the first and by the second hash. */
export interface HostMemory {
  readonly memory: SharedArrayBuffer;
  /** Random, so that nobody can choose addresses with the same hashes. */
  readonly seeds: readonly [number, number];
  readonly threads: number;
}

const BUCKETS = 4096;
const NUMBERS_PER_THREAD = 1 + 2 * BUCKETS;

export function createHostMemory(threads: number): HostMemory {
  const seed = (): number => randomInt(2 ** 32);
  return {
    memory: new SharedArrayBuffer(4 * NUMBERS_PER_THREAD * threads),
    seeds: [seed(), seed()],
    threads,
  };
}

/** What all hosts have on all threads. */
export function allOfHosts({ memory, threads }: HostMemory): number {
  const numbers = new Int32Array(memory);
  let sum = 0;
  for (let thread = 0; thread < threads; thread++) sum += Atomics.load(numbers, thread * NUMBERS_PER_THREAD);
  return sum;
}

/** Forgets what hosts had on a thread that ended. */
export function forgetHosts({ memory }: HostMemory, thread: number): void {
  new Int32Array(memory, 4 * thread * NUMBERS_PER_THREAD, NUMBERS_PER_THREAD).fill(0);
}

/** The numbers as the thread with this index, from 0, counts them. */
export function shareHosts({ memory, seeds, threads }: HostMemory, own: number): SharedHosts {
  const numbers = new Int32Array(memory);
  const placesOf = (remoteHost: string): readonly number[] =>
    seeds.map((seed, row) => 1 + row * BUCKETS + (hashOf(remoteHost, seed) % BUCKETS));

  function othersAt(place: number): number {
    let sum = 0;
    for (let thread = 0; thread < threads; thread++)
      if (thread !== own) sum += Atomics.load(numbers, thread * NUMBERS_PER_THREAD + place);
    return sum;
  }

  return {
    add(remoteHost, by) {
      for (const place of [0, ...placesOf(remoteHost)])
        Atomics.add(numbers, own * NUMBERS_PER_THREAD + place, by);
    },
    get others() {
      return othersAt(0);
    },
    get leastOfOthers() {
      let least = Number.POSITIVE_INFINITY;
      for (let thread = 0; thread < threads; thread++)
        if (thread !== own) least = Math.min(least, Atomics.load(numbers, thread * NUMBERS_PER_THREAD));
      return least;
    },
    othersOf: (remoteHost) => Math.min(...placesOf(remoteHost).map(othersAt)),
  };
}

/**
 * FNV-1a of 32 bits, begun with the seed, and the finalizer of MurmurHash3: without it the low bits follow from those of the
 * characters alone, and the two hashes of similar names often collide together.
 */
function hashOf(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
