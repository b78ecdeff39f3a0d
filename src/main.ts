#!/usr/bin/env node
import { EXIT } from "./cli/exitCodes.ts";
import { run } from "./cli/run.ts";
import { listenForStop } from "./cli/stopRequest.ts";

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
