import { spawn } from "node:child_process";

const STOPS = ["SIGINT", "SIGTERM"];
/** What a shell adds to the number of the signal that ended a command. */
const ENDED_BY = { SIGINT: 130, SIGTERM: 143 };

/**
 * Runs a program with this one's terminal, and resolves with its exit code. A request to stop is passed on, and this program ends
 * with the other one: who waits for npm then waits for all that it started. Rejects when it cannot be started.
 */
export function runToEnd(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "inherit", ...options });
    let stoppedBy;
    const stop = (signal) => {
      stoppedBy = signal;
      child.kill(signal);
    };
    for (const signal of STOPS) process.on(signal, stop);
    child.once("error", reject);
    child.once("close", (code) => {
      for (const signal of STOPS) process.off(signal, stop);
      if (stoppedBy !== undefined) process.exit(ENDED_BY[stoppedBy]);
      resolve(code === null ? 1 : code);
    });
  });
}
