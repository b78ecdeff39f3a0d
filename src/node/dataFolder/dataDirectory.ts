import { accessSync, constants, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { writeWhole } from "../../primitives/wholeFile.ts";
import { isDiskAtFault, translateDiskError } from "../../storage/diskErrors.ts";

/** Paths in the node's data folder. Of Besu's files there, the key is read, and database/ is not touched. */
export interface DataDirectory {
  readonly path: string;
  readonly keyFile: string;
  /** Folder of the LevelDB database. */
  readonly chain: string;
  /** Folder of the index by address. */
  readonly accountIndex: string;
  readonly voteFile: string;
  readonly headFile: string;
  /** Nodes that discovery has found. */
  readonly knownNodesFile: string;
  /** True when the folder has a Besu database, which Ibex neither reads nor changes. */
  readonly hasBesuDatabase: boolean;
}

/** Opens the folder, and creates it when absent. An error when it cannot be created or written. */
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
    return unusable(`The data folder ${path} cannot be used`, error);
  }
  return ok({
    path,
    keyFile: join(path, "key"),
    chain,
    accountIndex: join(path, "explorer-index"),
    voteFile,
    headFile,
    knownNodesFile: join(path, "known-nodes.json"),
    hasBesuDatabase:
      existsSync(join(path, "database", "IDENTITY")) || existsSync(join(path, "DATABASE_METADATA.json")),
  });
}

/** Creates one folder at a time: mkdir with `recursive` never returns on some denied folders, such as /proc. */
export function createFolders(path: string): void {
  if (existsSync(path)) return;
  createFolders(dirname(path));
  mkdirSync(path);
}

/**
 * Writes those of the ports that are in use as Java properties to `besu.ports`, which start scripts wait for
 * (options.md#files-in-the-data-folder).
 */
export function writePortsFile(
  path: string,
  ports: Readonly<Record<string, number | undefined>>,
): Result<{ close(): void }, "unusableDataPath" | "diskFailure"> {
  const file = join(path, PORTS_FILE);
  const used = Object.entries(ports).filter(([, port]) => port !== undefined);
  const lines = used.map(([name, port]) => `${name}=${port}`);
  try {
    writeWhole(file, `${lines.join("\n")}\n`);
    return ok({ close: () => rmSync(file, { force: true }) });
  } catch (error) {
    return unusable(`The list of ports ${file} cannot be written`, error);
  }
}

const PORTS_FILE = "besu.ports";

/** Files of LevelDB whose permissions are checked first, so that the error is ours and clear. */
const OWN_FILES_IN_CHAIN = ["LOCK", "CURRENT"];

/** Says what failed and what to do. A full or failing disk has its own code, because the configuration is not at fault. */
function unusable(what: string, error: unknown): Result<never, "unusableDataPath" | "diskFailure"> {
  if (isDiskAtFault(error)) return fail("local", "diskFailure", translateDiskError(error, what).message);
  const reason = messageOf(error);
  return fail(
    "local",
    "unusableDataPath",
    `${what}: ${reason}. ${ownerAdvice(error)}Give a folder that this user may write with --data-path.`,
  );
}

/** Advice for a folder or file of another user; empty for other errors. */
function ownerAdvice(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const user = process.getuid?.();
  if ((code !== "EACCES" && code !== "EPERM") || user === undefined) return "";
  return `The node runs as user ${user}, who lacks the permission: change the owner of the folder and its contents (chown -R ${user}). `;
}
