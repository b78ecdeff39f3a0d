import type { ProcessIo } from "../../src/cli/processIo.ts";
import { run } from "../../src/cli/run.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";

/** Runs the program in this process, by default in a new temporary folder, and collects its output. */
export async function ibexHere(args: readonly string[], io: Partial<ProcessIo> = {}) {
  let output = "";
  let errors = "";
  const exitCode = await run(args, {
    environment: {},
    workingDirectory: io.workingDirectory ?? temporaryFolder(),
    processId: process.pid,
    isTerminal: false,
    print: (text) => {
      output += text;
    },
    printError: (text) => {
      errors += text;
    },
    awaitStop: () => {
      throw new Error("no command waits for signals");
    },
    awaitFault: () => {
      throw new Error("no command waits for faults");
    },
    // All tests after it would have that priority too.
    giveWay: () => undefined,
    ...io,
  });
  return { exitCode, output, errors };
}
