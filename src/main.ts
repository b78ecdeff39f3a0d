#!/usr/bin/env -S MALLOC_MMAP_THRESHOLD_=65536 MALLOC_TRIM_THRESHOLD_=1048576 node --max-semi-space-size=64
import { nodeVersionFault } from "./nodeVersion.mjs";

// The program is loaded only after this check: an older Node.js lacks names that its modules import, and would end with a
// SyntaxError. So this file imports nothing else, and has no syntax that Node.js 12 does not know.
const fault = nodeVersionFault(process.versions.node);
if (fault === undefined) void import("./program.ts");
else {
  process.stderr.write(`${fault}\n`);
  // EXIT.badInput, which service managers do not answer by starting the program again.
  process.exitCode = 2;
}
