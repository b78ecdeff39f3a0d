import { getPriority } from "node:os";
import { afterAll } from "vitest";
import { killRunning } from "./cluster/harness/nodeProcess.ts";

/** For each file of tests: a node that a failed one has left running would slow down all that come after it. */
afterAll(killRunning);

/** So would a lower priority of this process, which what it starts inherits: beside busy programs nothing after it would end in time. */
const priority = getPriority();
afterAll(() => {
  if (getPriority() !== priority)
    throw new Error(`the priority was changed from ${priority} to ${getPriority()}`);
});
