import { readdirSync, readFileSync } from "node:fs";

/**
 * Whether a process with that id runs, of any user. One that has ended and whose parent has not asked for its exit code, as in
 * containers without an init, runs no more, though the system still knows its id.
 */
export function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    // EPERM: it runs as another user.
    return error instanceof Error && "code" in error && error.code === "EPERM" && !hasEnded(processId);
  }
  return !hasEnded(processId);
}

/** False where the system does not tell. A process whose other threads still end has open files, so it has not ended. */
function hasEnded(processId: number): boolean {
  const [state = ""] = statFields(processId);
  if (!ENDED.includes(state)) return false;
  try {
    return readdirSync(`/proc/${processId}/task`).length <= 1;
  } catch {
    return true;
  }
}

/** A zombie, and two states in which it is being removed (proc_pid_stat(5)). */
const ENDED = ["Z", "X", "x"];

/** When a process began, where the system tells it, else empty: ids are used again, in containers at once. */
export function startOf(processId: number): string {
  return statFields(processId)[19] ?? "";
}

/** The values after its name, the state first; none where the system does not tell (proc_pid_stat(5)). */
function statFields(processId: number): readonly string[] {
  try {
    // The name, in brackets, may have spaces.
    return readFileSync(`/proc/${processId}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  } catch {
    return [];
  }
}
