import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { roughLengthOf } from "../../primitives/jsonPieces.ts";
import { Mutex } from "../../primitives/mutex.ts";
import type { CoreParts } from "../../rpc/core/coreParts.ts";

/** Limits of all trace files together: callers create them, and only the operator removes them. */
interface TraceFolderLimits {
  readonly bytes: number;
  readonly files: number;
}

const LIMITS: TraceFolderLimits = { bytes: 8 * 1024 ** 3, files: 10_000 };

/**
 * Writes trace files to the folder `traces` in the data folder, which is created for the first one. Of bytes and of files a remote host
 * may have half of what all others leave, so that the next one always finds room. Those of earlier runs are of nobody.
 */
export function createTraceFolder(
  dataPath: string,
  limits: TraceFolderLimits = LIMITS,
): CoreParts["writeTrace"] {
  const folder = resolve(dataPath, "traces");
  /** Files in the folder, by name. */
  const known = new Map<string, TraceFile>();
  const mutex = new Mutex();

  /** What the operator removed counts no more. Only files that are not known are looked at, since there may be thousands. */
  async function look(): Promise<void> {
    await mkdir(folder, { recursive: true });
    const names = new Set(await readdir(folder));
    for (const name of known.keys()) if (!names.has(name)) known.delete(name);
    for (const name of names) {
      if (known.has(name)) continue;
      known.set(name, { bytes: (await stat(join(folder, name))).size, remoteHost: undefined });
    }
  }

  function hasRoom(added: number, remoteHost: string): boolean {
    const [all, own] = [
      { bytes: 0, files: 0 },
      { bytes: added, files: 1 },
    ];
    for (const file of known.values()) {
      all.bytes += file.bytes;
      all.files++;
      if (file.remoteHost !== remoteHost) continue;
      own.bytes += file.bytes;
      own.files++;
    }
    return own.bytes <= limits.bytes - all.bytes && own.files <= limits.files - all.files;
  }

  return (name, pieces, remoteHost) =>
    mutex.runExclusive(async () => {
      await look();
      const bytes = roughLengthOf(pieces);
      if (!hasRoom(bytes, remoteHost)) return undefined;
      const path = join(folder, name);
      known.set(name, { bytes, remoteHost });
      await writeFile(path, pieces);
      return path;
    });
}

interface TraceFile {
  readonly bytes: number;
  readonly remoteHost: string | undefined;
}
