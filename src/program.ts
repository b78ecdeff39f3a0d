import module from "node:module";
import { setFlagsFromString } from "node:v8";
import { EXIT } from "./cli/exitCodes.ts";
import { takeLowestPriority } from "./cli/lowestPriority.ts";
import type { run } from "./cli/run.ts";
import { listenForStop } from "./cli/stopRequest.ts";
import { listenForFault } from "./cli/uncaughtExceptions.ts";
import { loadModules } from "./node/host/loadModules.ts";
import { DiskError } from "./storage/database.ts";

// A reader of the output that exits early (such as `head`) must not end the node.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

// --max-semi-space-size (the first line of main.ts) is for this thread: what a block leaves behind survives fewer collections in a larger space
// (architecture.md#threads). Threads that start later have limits of their own, which the option would overrule.
setFlagsFromString("--max-semi-space-size=0");

// From Node.js 22.8 on: caches compiled code in the temporary folder for later starts.
(module as { enableCompileCache?(): unknown }).enableCompileCache?.();

const exitCode = await (await loadProgram())(process.argv.slice(2), {
  environment: process.env,
  workingDirectory: process.cwd(),
  processId: process.pid,
  isTerminal: process.stdout.isTTY === true,
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
  awaitStop: (onHangUp) => listenForStop(process, EXIT.failed, onHangUp),
  awaitFault: () => listenForFault(process),
  giveWay: takeLowestPriority,
});
process.exit(exitCode);

async function loadProgram(): Promise<typeof run> {
  try {
    return (await loadModules(() => import("./cli/run.ts"))).run;
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT.disk);
  }
}
