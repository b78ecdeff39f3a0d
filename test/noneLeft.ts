import { getPriority } from "node:os";
import { afterAll } from "vitest";
import { killRunning } from "./cluster/harness/nodeProcess.ts";
import { HANG_MS } from "./hang.ts";

/** For each file of tests: a node that a failed one has left running would slow down all that come after it. */
afterAll(killRunning);

/** So would a loop that goes on, and the process would not end. */
afterAll(async () => {
  const sinceMs = performance.now();
  while (process.getActiveResourcesInfo().includes("Immediate")) {
    if (performance.now() - sinceMs > LOOP_MS)
      throw new Error("a loop of immediates goes on after the last test");
    await new Promise((resolve) => setImmediate(resolve));
  }
});
/** Work that comes to its end does so sooner by far. */
const LOOP_MS = HANG_MS / 10;

/** So would a lower priority of this process, which what it starts inherits: beside busy programs nothing after it would end in time. */
const priority = getPriority();
afterAll(() => {
  if (getPriority() !== priority)
    throw new Error(`the priority was changed from ${priority} to ${getPriority()}`);
});
