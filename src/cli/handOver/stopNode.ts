import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { findDatabase } from "../databasePaths.ts";
import { isRunning } from "../runningProcess.ts";
import { askNode } from "../status/askNode.ts";
import { STOPS_WITHIN_MS } from "./limits.ts";

/**
 * Stops the node that runs in the data folder with SIGTERM, and resolves when its process is gone. `none` means that no node
 * is known to run there.
 */
export async function stopNode(dataPath: string): Promise<Result<"stopped" | "none", "notStopped">> {
  const asked = await askNode(dataPath);
  if (!asked.ok) return ok("none");
  const { processId } = asked.value;
  // In a container a process has another id, and that id may belong to a different process here.
  if (!usesFolder(processId, dataPath))
    return fail(
      "caller",
      "notStopped",
      `The node in ${dataPath} runs as a process that cannot be stopped from here, such as in a container. Stop it first.`,
    );
  try {
    process.kill(processId, "SIGTERM");
  } catch (error) {
    return fail(
      "caller",
      "notStopped",
      `The node in ${dataPath}, process ${processId}, cannot be stopped (${String(error)}). Stop it first, or run this ` +
        "command as its user.",
    );
  }
  const deadlineMs = performance.now() + STOPS_WITHIN_MS;
  while (isRunning(processId)) {
    if (performance.now() > deadlineMs)
      return fail(
        "caller",
        "notStopped",
        `The node in ${dataPath}, process ${processId}, was told to stop and still runs after ${STOPS_WITHIN_MS / 1000} s.`,
      );
    await pause(POLL_MS);
  }
  return ok("stopped");
}

const POLL_MS = 50;

/** Whether the process has the lock of the folder's database open, if the system can tell. */
function usesFolder(processId: number, dataPath: string): boolean {
  if (!(processId > 1)) return false;
  if (!existsSync("/proc/self/fd")) return true;
  const found = findDatabase(dataPath);
  const lock = found.ok && statSync(join(found.value.chain, "LOCK"), { throwIfNoEntry: false });
  if (lock === false || lock === undefined) return false;
  const folder = `/proc/${processId}/fd`;
  try {
    return readdirSync(folder).some((name) => {
      const file = statSync(join(folder, name), { throwIfNoEntry: false });
      return file?.ino === lock.ino && file.dev === lock.dev;
    });
  } catch {
    return false;
  }
}
