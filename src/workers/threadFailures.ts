import { basename } from "node:path";

/*
 * How many threads of each kind have failed since the start. One that was terminated, or ended because its work was done, has
 * not failed. Each thread counts those that it starts itself; the main thread starts nearly all.
 */

const failures = new Map<string, number>();

/** Lets a kind of thread begin at zero, so that the first failure is seen as a rise. `entry` is the thread's file. */
export function expectThread(entry: URL): void {
  const name = nameOf(entry);
  failures.set(name, failures.get(name) ?? 0);
}

export function countThreadFailure(entry: URL): void {
  const name = nameOf(entry);
  failures.set(name, (failures.get(name) ?? 0) + 1);
}

/** Failures by the name of the thread's file, such as `callWorker`. */
export function threadFailures(): ReadonlyMap<string, number> {
  return failures;
}

function nameOf({ pathname }: URL): string {
  return basename(pathname, ".js");
}
