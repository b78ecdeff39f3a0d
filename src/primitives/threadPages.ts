import { getEnvironmentData, setEnvironmentData, threadId } from "node:worker_threads";

/*
 * Counts the WebAssembly pages of all threads' EVM instances, in memory that the threads share: each thread counts in a
 * place of its own, which is cleared when the thread has ended.
 */

/** 64 KB, WebAssembly's unit of memory. */
export const PAGE_BYTES = 65_536;

/** Counts pages that this thread has gained, or lost when negative. */
export function countPages(pages: number): void {
  Atomics.add(places, threadId % PLACES, pages);
}

/** WebAssembly memory of all threads, in bytes. */
export function bytesOfThreads(): number {
  return places.reduce((sum, pages) => sum + pages, 0) * PAGE_BYTES;
}

/** Forgets the pages of a thread that has ended. */
export function forgetThread(id: number): void {
  Atomics.store(places, id % PLACES, 0);
}

const NAME = "ibex pages of EVM instances";
/** Number of places: more than there are ever threads at one time. Thread ids grow with each start. */
const PLACES = 1024;

const places = sharedPlaces();

/** Workers inherit the environment data of the thread that starts them. */
function sharedPlaces(): Int32Array {
  const known: unknown = getEnvironmentData(NAME);
  const buffer = known instanceof SharedArrayBuffer ? known : new SharedArrayBuffer(4 * PLACES);
  if (buffer !== known) setEnvironmentData(NAME, buffer);
  return new Int32Array(buffer);
}
