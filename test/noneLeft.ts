import { getPriority } from "node:os";
import { afterAll } from "vitest";
import { killRunning } from "./cluster/harness/nodeProcess.ts";

/** For each file of tests: a node that a failed one has left running would slow down all that come after it. */
afterAll(killRunning);

/** So would a loop that goes on, and the process would not end. */
afterAll(async () => {
  let turns = 0;
  // A loop has an immediate of its own in each turn; what comes to its end needs some turns.
  while (process.getActiveResourcesInfo().includes("Immediate")) {
    if (turns++ > 10_000) throw new Error("a loop of immediates goes on after the last test");
    await new Promise((resolve) => setImmediate(resolve));
  }
});

/** So would a lower priority of this process, which what it starts inherits: beside busy programs nothing after it would end in time. */
const priority = getPriority();
afterAll(() => {
  if (getPriority() !== priority)
    throw new Error(`the priority was changed from ${priority} to ${getPriority()}`);
});
