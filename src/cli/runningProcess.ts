import { readdirSync, readFileSync } from "node:fs";

/**
 * Whether a process with that id runs, of any user. A zombie, whose parent has not read its exit code, as in containers
 * without an init, does not count as running.
 */
export function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    // EPERM means that it runs as another user.
    return error instanceof Error && "code" in error && error.code === "EPERM" && !hasEnded(processId);
  }
  return !hasEnded(processId);
}

/**
 * Whether a process has ended; false if the system does not tell. A process whose other threads are still ending has open
 * files, so it has not ended.
 */
function hasEnded(processId: number): boolean {
  const [state = ""] = statFields(processId);
  if (!ENDED.includes(state)) return false;
  try {
    return readdirSync(`/proc/${processId}/task`).length <= 1;
  } catch {
    return true;
  }
}

/** States of an ended process: a zombie, and two in which it is being removed (proc_pid_stat(5)). */
const ENDED = ["Z", "X", "x"];

/** Start time of a process; empty if the system does not tell. Ids are reused, in containers at once. */
export function startOf(processId: number): string {
  return statFields(processId)[19] ?? "";
}

/** The values after the process name, the state first; none if the system does not tell (proc_pid_stat(5)). */
function statFields(processId: number): readonly string[] {
  try {
    // The name, in brackets, may have spaces.
    return readFileSync(`/proc/${processId}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  } catch {
    return [];
  }
}
