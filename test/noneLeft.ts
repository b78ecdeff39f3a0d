import { afterAll } from "vitest";
import { killRunning } from "./cluster/nodeProcess.ts";

/** For each file of tests: a node that a failed one has left running would slow down all that come after it. */
afterAll(killRunning);
