import type { ProcessIo } from "../../src/cli/processIo.ts";
import { run } from "../../src/cli/run.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";

/** Runs the program in this process, in a folder of its own unless told, and gathers what it prints. */
export async function ibexHere(args: readonly string[], world: Partial<ProcessIo> = {}) {
  let output = "";
  let errors = "";
  const exitCode = await run(args, {
    environment: {},
    workingDirectory: temporaryFolder(),
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
    ...world,
  });
  return { exitCode, output, errors };
}
