import { existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Progress } from "../../observability/progress.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { syncFolder } from "../../primitives/syncFolder.ts";
import { type CopyPace, copyFile } from "./copyFile.ts";
import { type BackedUpFile, type FileList, readFileList } from "./fileList.ts";
import { CHECK_BYTES, RESERVE_BYTES } from "./limits.ts";
import { isOutdated, readChainInfo } from "./openCopy.ts";
import { refuseLittleRoom } from "./room.ts";
import { makeWorkFolder } from "./unfinished.ts";

interface RestoreRequest {
  /** Folder of the backup. */
  readonly from: string;
  readonly dataPath: string;
  readonly processId: number;
  readonly pace: CopyPace;
  readonly progress: Progress;
}

interface Restored extends FileList {
  /** Operator's files that the data folder already had, left as they are. */
  readonly kept: readonly string[];
  /** Whether the data folder has a vote log, which is not from the backup. */
  readonly hasVotes: boolean;
  /** Whether an older version of Ibex made the backup, with a schema version that this one must migrate. */
  readonly needsMigration: boolean;
}

/**
 * Puts the chain of a backup into a data folder without one, with the operator's files that are missing there. Every file is
 * compared with the list, and the database opened as at the start of a node, before it gets its name: a kill leaves a folder
 * without a chain. A vote log in the folder stays: it is newer than the backup. Throws DiskError, DamagedData and Stopped.
 */
export async function restoreBackup(
  request: RestoreRequest,
): Promise<Result<Restored, "notABackup" | "notEmpty" | "badBackup" | "tooLittleRoom">> {
  const { from, dataPath, progress } = request;
  const list = readFileList(from);
  if (!list.ok) return list;
  const inTheWay = ["chain", "head.log", "caches"].find((name) => existsSync(join(dataPath, name)));
  if (inTheWay !== undefined)
    return fail(
      "caller",
      "notEmpty",
      `The data folder ${dataPath} already has ${inTheWay}; a backup needs a folder without. Stop the node, and ` +
        "move chain/, caches/ and head.log out of the folder; keep everything else.",
    );
  mkdirSync(dataPath, { recursive: true });
  const bytes = list.value.files.reduce((sum, file) => sum + file.bytes, 0);
  const room = await refuseLittleRoom(dataPath, bytes + CHECK_BYTES + RESERVE_BYTES);
  if (!room.ok) return room;
  const staging = makeWorkFolder(dataPath, request.processId);
  try {
    mkdirSync(join(staging, "chain"));
    const copied = await copyAllChecked(request, list.value.files, staging).finally(() => progress.end());
    if (!copied.ok) return copied;
    const { head, genesisHash, files } = list.value;
    const needsMigration = await isOutdated(join(staging, "chain"));
    // Its blocks are readable only after migration; until then the checksums of its files must suffice.
    const info = needsMigration
      ? list.value
      : await readChainInfo(join(staging, "chain"), join(staging, "head.log"));
    if (info?.head.hash !== head.hash || info.genesisHash !== genesisHash)
      return fail("local", "badBackup", `The backup ${from} does not contain the block that its list names.`);
    const kept = putInPlace(files, staging, dataPath);
    const hasVotes = existsSync(join(dataPath, "votes.log"));
    return ok({ ...list.value, kept, hasVotes, needsMigration });
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

async function copyAllChecked(
  request: RestoreRequest,
  files: readonly BackedUpFile[],
  staging: string,
): Promise<Result<void, "badBackup">> {
  const { pace, progress } = request;
  progress.change({ message: "restoring", total: files.reduce((sum, { bytes }) => sum + bytes, 0) });
  let done = 0;
  const onBytes = (bytes: number): void => {
    done += bytes;
    progress.advance({ position: done, counts: { bytes } });
  };
  for (const file of files) {
    const checked = await copyChecked({ ...request, pace: { ...pace, onBytes } }, file, staging);
    if (!checked.ok) return checked;
  }
  return ok(undefined);
}

async function copyChecked(
  { from, pace }: RestoreRequest,
  { path, bytes, crc32 }: BackedUpFile,
  staging: string,
): Promise<Result<void, "badBackup">> {
  const mode = path.startsWith("chain/") ? 0o644 : 0o600;
  const source = join(from, path);
  const found = statSync(source, { throwIfNoEntry: false });
  if (found === undefined) return fail("local", "badBackup", `The file ${source} of the backup is missing.`);
  // The file is checked before it is read: a pipe may deliver nothing, and a device may deliver bytes without end.
  if (found.isFile() && found.size === bytes) {
    const copied = await copyFile(source, join(staging, path), pace, mode);
    if (copied.bytes === bytes && copied.crc32 === crc32) return ok(undefined);
  }
  return fail(
    "local",
    "badBackup",
    `The file ${source} has changed since it was backed up. Use another backup.`,
  );
}

/**
 * Puts the files in place, the chain last: it completes the restored folder. Returns which of the operator's files existed
 * already.
 */
function putInPlace(files: readonly BackedUpFile[], staging: string, dataPath: string): readonly string[] {
  const kept: string[] = [];
  for (const { path } of files) {
    if (path.startsWith("chain/")) continue;
    if (existsSync(join(dataPath, path))) kept.push(path);
    else renameSync(join(staging, path), join(dataPath, path));
  }
  syncFolder(join(staging, "chain"));
  renameSync(join(staging, "chain"), join(dataPath, "chain"));
  syncFolder(dataPath);
  return kept;
}
