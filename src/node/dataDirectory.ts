import { accessSync, constants, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../primitives/errorMessage.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { isDiskAtFault, translateDiskError } from "../storage/diskErrors.ts";

/** Where a node keeps what is its own. Besu's files beside ours are read (key) or left alone (database/). */
export interface DataDirectory {
  readonly path: string;
  readonly keyFile: string;
  /** Folder of the LevelDB database. */
  readonly chain: string;
  readonly voteFile: string;
  readonly headFile: string;
  /** True when a database of Besu lies in the folder; Ibex neither reads nor changes it. */
  readonly hasBesuDatabase: boolean;
}

/** Opens the folder, creating it when absent. Refused when it cannot be created or written. */
export function openDataDirectory(path: string): Result<DataDirectory, "unusableDataPath" | "diskFailure"> {
  const chain = join(path, "chain");
  const voteFile = join(path, "votes.log");
  const headFile = join(path, "head.log");
  try {
    createFolders(chain);
    for (const folder of [path, chain]) accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const file of [...OWN_FILES_IN_CHAIN.map((name) => join(chain, name)), voteFile, headFile])
      if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
  } catch (error) {
    return refuse(`The data folder ${path} cannot be used`, error);
  }
  return ok({
    path,
    keyFile: join(path, "key"),
    chain,
    voteFile,
    headFile,
    hasBesuDatabase:
      existsSync(join(path, "database", "IDENTITY")) || existsSync(join(path, "DATABASE_METADATA.json")),
  });
}

/** One after another: told to do it by itself, Node.js never ends where the system denies a folder that it has (/proc). */
export function createFolders(path: string): void {
  if (existsSync(path)) return;
  createFolders(dirname(path));
  mkdirSync(path);
}

/**
 * The ports in use, as Java properties in `besu.ports`: start scripts wait for this file
 * (options.md#files-in-the-data-folder).
 */
export function writePortsFile(
  path: string,
  ports: Readonly<Record<string, number>>,
): Result<void, "unusableDataPath" | "diskFailure"> {
  const file = join(path, PORTS_FILE);
  const lines = Object.entries(ports).map(([name, port]) => `${name}=${port}`);
  try {
    writeFileSync(file, `${lines.join("\n")}\n`);
    return ok(undefined);
  } catch (error) {
    return refuse(`The list of ports ${file} cannot be written`, error);
  }
}

export function removePortsFile(path: string): void {
  rmSync(join(path, PORTS_FILE), { force: true });
}

const PORTS_FILE = "besu.ports";

/** LevelDB's: those of another user are refused with our words instead of its own. */
const OWN_FILES_IN_CHAIN = ["LOCK", "CURRENT"];

/** What went wrong, and what an operator can do. A disk that is full or fails is no mistake in the configuration. */
function refuse(what: string, error: unknown): Result<never, "unusableDataPath" | "diskFailure"> {
  if (isDiskAtFault(error))
    return err({
      code: "diskFailure",
      fault: "local",
      message: translateDiskError(error, what).message,
    });
  const reason = messageOf(error);
  return err({
    code: "unusableDataPath",
    fault: "local",
    message: `${what}: ${reason}. ${ownerAdvice(error)}Give a folder that this user may write with --data-path.`,
  });
}

/** For a folder or a file of another user; nothing for other mistakes. */
function ownerAdvice(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const user = process.getuid?.();
  if ((code !== "EACCES" && code !== "EPERM") || user === undefined) return "";
  return `The node runs as user ${user}, who may not: change the owner of the folder and of all in it (chown -R ${user}). `;
}
