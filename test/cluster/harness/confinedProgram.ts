import { spawn } from "node:child_process";
import { PROGRAM, type RunningProgram, watched } from "./nodeProcess.ts";

export interface Confinement {
  /** A shell command that runs first, such as `ulimit -n 128`. */
  readonly first?: string;
  /** User to run as; only root may choose. */
  readonly uid?: number;
  /** For Node.js itself. */
  readonly runtimeOptions?: readonly string[];
  /** Where standard output goes instead of to `output()`. */
  readonly outputFile?: string;
}

/** Runs the program under limits of the operating system, without waiting for anything. */
export function runConfined(options: readonly string[], confinement: Confinement): RunningProgram {
  const { first = ":", uid, runtimeOptions = [], outputFile } = confinement;
  const redirection = outputFile === undefined ? "" : `>"${outputFile}"`;
  const child = spawn(
    "bash",
    [
      "-c",
      `${first}; exec "$0" "$@" ${redirection}`,
      process.execPath,
      ...runtimeOptions,
      PROGRAM,
      ...options,
    ],
    { stdio: ["ignore", "pipe", "pipe"], ...(uid !== undefined && { uid }) },
  );
  return watched(child);
}
