import { getEnvironmentData, isMainThread, setEnvironmentData, type Worker } from "node:worker_threads";

/**
 * A native addon of node-addon-api ends the whole process (std::terminate, exit code 134) when its thread is terminated
 * while it loads the addon: the addon throws, and the throw itself fails. So all threads of the process share a mutex
 * that excludes the two. Measured: 2 of 3 runs of a hundred terminations during loads ended the process.
 */

/** Terminates a worker, but never while it loads an addon. Resolves once it has exited. */
export async function terminateWorker(worker: Worker): Promise<void> {
  const deadlineMs = performance.now() + LONGEST_WAIT_MS;
  while (!tryLock()) {
    if (performance.now() >= deadlineMs) {
      await worker.terminate();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  try {
    await worker.terminate();
  } finally {
    unlock();
  }
}

/** Loads an addon; on a worker thread, while no thread is being terminated. */
export function loadAddon<T>(load: () => T): T {
  // The main thread is never terminated, and it must not block.
  if (isMainThread) return load();
  const deadlineMs = performance.now() + LONGEST_WAIT_MS;
  let isLocked = tryLock();
  while (!isLocked && performance.now() < deadlineMs) {
    Atomics.wait(mutex, 0, LOCKED, LONGEST_WAIT_MS);
    isLocked = tryLock();
  }
  try {
    return load();
  } finally {
    if (isLocked) unlock();
  }
}

const NAME = "ibex addon loading";
const FREE = 0;
const LOCKED = 1;
/**
 * A thread that failed with the mutex locked must not block the others for good. Loading takes some milliseconds of a
 * processor, and a thread of low priority may wait seconds for them on a busy machine. The limit is below the time that a
 * node's stop may take.
 */
const LONGEST_WAIT_MS = 15_000;

const mutex = sharedMutex();

/** Workers inherit the environment data of the thread that starts them. */
function sharedMutex(): Int32Array {
  const known: unknown = getEnvironmentData(NAME);
  const buffer = known instanceof SharedArrayBuffer ? known : new SharedArrayBuffer(4);
  if (buffer !== known) setEnvironmentData(NAME, buffer);
  return new Int32Array(buffer);
}

function tryLock(): boolean {
  return Atomics.compareExchange(mutex, 0, FREE, LOCKED) === FREE;
}

function unlock(): void {
  Atomics.store(mutex, 0, FREE);
  Atomics.notify(mutex, 0, 1);
}
