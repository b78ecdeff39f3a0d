import { accessSync, constants, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
    mkdirSync(join(path, "chain"), { recursive: true });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return rejected({
      code: "unusableDataPath",
      fault: "local",
      message: `The data folder ${path} cannot be used: ${reason}. Give a folder that this user may write with --data-path.`,
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

/** The ports in use, as Java properties in `besu.ports`: start scripts wait for this file (operations.md §10). */
export function writePortsFile(path: string, ports: Readonly<Record<string, number>>): void {
  const lines = Object.entries(ports).map(([name, port]) => `${name}=${port}`);
  writeFileSync(join(path, PORTS_FILE), `${lines.join("\n")}\n`);
}

export function removePortsFile(path: string): void {
  rmSync(join(path, PORTS_FILE), { force: true });
}

const PORTS_FILE = "besu.ports";
