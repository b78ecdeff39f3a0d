#!/usr/bin/env node
import { EXIT } from "./cli/exitCodes.ts";
import { run } from "./cli/run.ts";
import { listenForStop } from "./cli/stopRequest.ts";

// A reader of the output that goes away (as `head` does) must not take the node with it.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

const exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  workingDirectory: process.cwd(),
  processId: process.pid,
  isTerminal: process.stdout.isTTY === true,
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
  awaitStop: () => listenForStop(process, EXIT.failed),
});
process.exit(exitCode);
