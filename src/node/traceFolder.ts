import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { RpcPorts } from "../rpc/ports.ts";

/** Size limit of all trace files together: callers create them, and only the operator removes them. */
const FOLDER_LIMIT_BYTES = 8 * 1024 ** 3;

/** Writes trace files to the folder `traces` in the data folder, which is created for the first one. */
export function createTraceFolder(dataPath: string): RpcPorts["writeTrace"] {
  const folder = resolve(dataPath, "traces");
  return async (name, lines) => {
    await mkdir(folder, { recursive: true });
    if ((await bytesIn(folder)) + lines.length > FOLDER_LIMIT_BYTES) return undefined;
    const path = join(folder, name);
    await writeFile(path, lines);
    return path;
  };
}

async function bytesIn(folder: string): Promise<number> {
  let sum = 0;
  for (const name of await readdir(folder)) sum += (await stat(join(folder, name))).size;
  return sum;
}
