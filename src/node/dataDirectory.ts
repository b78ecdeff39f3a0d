import { accessSync, constants, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Outcome, ok, rejected } from "../primitives/outcome.ts";

/** Where a node keeps what is its own. The incumbent's files beside ours are read (key) or left alone (database/). */
export interface DataDirectory {
  readonly path: string;
  readonly keyFile: string;
  /** Folder of the LevelDB database. */
  readonly chain: string;
  readonly voteFile: string;
  readonly headFile: string;
  /** True when a database of the incumbent lies in the folder; Ibex neither reads nor changes it. */
  readonly hasIncumbentDatabase: boolean;
}

/** Opens the folder, creating it when absent. Refused when it cannot be created or written. */
export function openDataDirectory(path: string): Outcome<DataDirectory, "unusableDataPath"> {
  try {
    createFolders(join(path, "chain"));
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return rejected({
      code: "unusableDataPath",
      fault: "local",
      message: `The data folder ${path} cannot be used: ${reasonOf(error)}. Give a folder that this user may write with --data-path.`,
    });
  }
  return ok({
    path,
    keyFile: join(path, "key"),
    chain: join(path, "chain"),
    voteFile: join(path, "votes.log"),
    headFile: join(path, "head.log"),
    hasIncumbentDatabase:
      existsSync(join(path, "database", "IDENTITY")) || existsSync(join(path, "DATABASE_METADATA.json")),
  });
}

/** One after another: told to do it by itself, Node.js never ends where the system denies a folder that it has (/proc). */
export function createFolders(path: string): void {
  if (existsSync(path)) return;
  createFolders(dirname(path));
  mkdirSync(path);
}

/** The ports in use, as Java properties in `besu.ports`: start scripts wait for this file (operations.md §10). */
export function writePortsFile(
  path: string,
  ports: Readonly<Record<string, number>>,
): Outcome<void, "unusableDataPath"> {
  const file = join(path, PORTS_FILE);
  const lines = Object.entries(ports).map(([name, port]) => `${name}=${port}`);
  try {
    writeFileSync(file, `${lines.join("\n")}\n`);
    return ok(undefined);
  } catch (error) {
    return rejected({
      code: "unusableDataPath",
      fault: "local",
      message: `The list of ports ${file} cannot be written: ${reasonOf(error)}.`,
    });
  }
}

export function removePortsFile(path: string): void {
  rmSync(join(path, PORTS_FILE), { force: true });
}

const PORTS_FILE = "besu.ports";

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
