import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { clientVersion } from "../../config/clientVersion.ts";
import type { Progress } from "../../observability/progress.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { syncFolder } from "../../primitives/syncFolder.ts";
import { DamagedData } from "../../storage/database.ts";
import { copyLevelFolder } from "../../storage/leveldb/levelCopy.ts";
import { findTableDamage } from "../../storage/leveldb/levelTable.ts";
import { type CopyPace, copyFile, isCode, link, readWhole } from "./copyFile.ts";
import {
  type BackedUpFile,
  type FileList,
  KEY_NAME,
  KEYSTORE_NAME,
  LIST_NAME,
  readFileList,
} from "./fileList.ts";
import { CHECK_BYTES, RESERVE_BYTES } from "./limits.ts";
import { type ChainInfo, isTable, readCopyInfo } from "./openCopy.ts";
import { refuseLittleRoom } from "./room.ts";
import { makeWorkFolder } from "./unfinished.ts";

interface BackupRequest {
  readonly dataPath: string;
  /** Folder of all backups of this node; created when absent. */
  readonly to: string;
  /** Number of backups of this chain to keep, this one included. */
  readonly keep: number;
  /** The file of the node's key, wherever it is, if it should be copied. */
  readonly key: KeyToCopy | undefined;
  readonly processId: number;
  readonly pace: CopyPace;
  readonly progress: Progress;
  nowMs(): number;
}

export interface KeyToCopy {
  readonly path: string;
  /** Whether it is a keystore, whose password is never copied. */
  readonly isKeystore: boolean;
}

interface Backup extends FileList {
  readonly folder: string;
  /** Bytes newly written to the disk of the backups; the rest are links. */
  readonly newBytes: number;
  /** Older backups that were removed. */
  readonly removed: readonly string[];
}

type Refusal = "noChain" | "tooLittleRoom" | "noKey";

/**
 * Copies the chain of a data folder, whether or not a node is using it: the database as it was at one moment (levelCopy.ts),
 * and the operator's files beside it; never the vote log, which would be stale when it is used.
 *
 *   links beside the node's files -> copies, or links to the newest backup's -> each new table against its checksums
 *   -> a trial opening -> the list of files, synced -> the final name
 *
 * So a folder with a list is a complete backup. The next backup removes what a kill leaves. Throws DiskError, DamagedData
 * and Stopped.
 */
export async function createBackup(request: BackupRequest): Promise<Result<Backup, Refusal>> {
  const { dataPath, to, key, processId } = request;
  const chain = join(dataPath, "chain");
  if (!existsSync(join(chain, "CURRENT")))
    return fail("caller", "noChain", `There is no chain in ${dataPath}.`);
  if (key !== undefined && !existsSync(key.path))
    return fail(
      "caller",
      "noKey",
      `There is no key file ${key.path}. If the node's key is elsewhere, name it as the node does, with ` +
        "--node-private-key-file, --node-keystore-file or --config-file.",
    );
  mkdirSync(to, { recursive: true });
  const links = makeWorkFolder(dataPath, processId);
  const staging = makeWorkFolder(to, processId);
  try {
    copyLevelFolder(chain, links);
    const newest = newestBackup(to);
    const room = await refuseWithoutRoom(links, to, newest);
    if (!room.ok) return room;
    const { files, newBytes } = await copyAll(request, { links, staging, newest }).finally(() =>
      request.progress.end(),
    );
    const info = await readCopyInfo(join(staging, "chain"), join(staging, "check"), request.pace);
    if (info === undefined) return fail("caller", "noChain", `There is no chain in ${dataPath}.`);
    const createdAt = new Date(request.nowMs()).toISOString();
    const list: FileList = { format: 1, client: clientVersion(), createdAt, ...info, files };
    await seal(staging, list);
    const folder = giveName(staging, to, list);
    return ok({ ...list, folder, newBytes, removed: removeOld(request, info) });
  } finally {
    rmSync(links, { recursive: true, force: true });
    rmSync(staging, { recursive: true, force: true });
  }
}

interface Folders {
  /** The links beside the node's files. */
  readonly links: string;
  /** The backup in the making. */
  readonly staging: string;
  readonly newest: KnownBackup | undefined;
}

interface KnownBackup {
  readonly folder: string;
  readonly list: FileList;
}

async function copyAll(
  { dataPath, key, pace: asked, progress }: BackupRequest,
  { links, staging, newest }: Folders,
): Promise<{ readonly files: readonly BackedUpFile[]; readonly newBytes: number }> {
  const files: BackedUpFile[] = [];
  let newBytes = 0;
  mkdirSync(join(staging, "chain"));
  const known = tablesOf(newest);
  const names = readdirSync(links);
  progress.change({
    message: "backing up",
    total: sum(names.map((name) => lstatSync(join(links, name)).size)),
  });
  let done = 0;
  const passed = (bytes: number): void => {
    done += bytes;
    progress.advance({ position: done, counts: { bytes } });
  };
  const pace = { ...asked, onBytes: passed };
  for (const name of names) {
    const path = `chain/${name}`;
    const origin = isTable(name) ? originOf(join(links, name)) : undefined;
    const old = origin === undefined ? undefined : known.get(origin);
    if (
      old !== undefined &&
      newest !== undefined &&
      link(join(newest.folder, old.path), join(staging, path))
    ) {
      files.push({ ...old, path });
      passed(old.bytes);
      continue;
    }
    const copied = await copyNew(join(links, name), join(staging, path), pace);
    if (!copied.isLink) newBytes += copied.bytes;
    const { bytes, crc32 } = copied;
    files.push({ path, bytes, crc32, ...(origin !== undefined && { origin }) });
  }
  const others = OPERATORS_FILES.map((name) => ({ name, path: join(dataPath, name) }));
  if (key !== undefined) others.push({ name: key.isKeystore ? KEYSTORE_NAME : KEY_NAME, path: key.path });
  for (const { name, path } of others) {
    if (!existsSync(path)) continue;
    const copied = await copyFile(path, join(staging, name), pace, 0o600);
    files.push({ path: name, ...copied });
  }
  return { files, newBytes };
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

/** The operator's files in the data folder. */
const OPERATORS_FILES = ["static-nodes.json", "permissions_config.toml"];

/** Links tables if the file system can, once their checksums are verified; copies everything else. */
async function copyNew(from: string, to: string, pace: CopyPace) {
  if (!isTable(from)) return { ...(await copyFile(from, to, pace)), isLink: false };
  const isLink = link(from, to);
  const copied = isLink ? await readWhole(to, pace) : await copyFile(from, to, pace);
  const damage = findTableDamage(readFileSync(to));
  if (damage !== undefined)
    throw new DamagedData(
      `The database is damaged, and was not copied: ${from}: ${damage}. The last backup before it is the one to keep. ` +
        "With the node stopped, `ibex database check` lists all damage.",
    );
  return { ...copied, isLink };
}

function tablesOf(backup: KnownBackup | undefined): ReadonlyMap<string, BackedUpFile> {
  const tables = new Map<string, BackedUpFile>();
  for (const file of backup?.list.files ?? []) if (file.origin !== undefined) tables.set(file.origin, file);
  return tables;
}

function originOf(path: string): string {
  const { ino, size, mtimeNs } = lstatSync(path, { bigint: true });
  return `${ino}-${size}-${mtimeNs}`;
}

async function refuseWithoutRoom(
  links: string,
  to: string,
  newest: KnownBackup | undefined,
): Promise<Result<void, "tooLittleRoom">> {
  const known = tablesOf(newest);
  const isLinkable = statSync(links).dev === statSync(to).dev;
  let needed = CHECK_BYTES + RESERVE_BYTES;
  for (const name of readdirSync(links)) {
    const path = join(links, name);
    const isLink = isTable(name) && (isLinkable || known.has(originOf(path)));
    if (!isLink) needed += lstatSync(path).size;
  }
  const room = await refuseLittleRoom(to, needed);
  return room.ok
    ? room
    : fail(
        "caller",
        "tooLittleRoom",
        `${room.error.message} Keep fewer backups (--keep), or choose another disk.`,
      );
}

/** Writes the list of the staging folder, durably. */
async function seal(staging: string, list: FileList): Promise<void> {
  const path = join(staging, LIST_NAME);
  writeFileSync(path, `${JSON.stringify(list)}\n`);
  const file = await open(path, "r");
  await file.sync();
  await file.close();
  for (const folder of [join(staging, "chain"), staging]) syncFolder(folder);
}

/**
 * Renames the staging folder, durably: its name has time and block, or a slightly later time if another backup took that
 * name.
 */
function giveName(staging: string, to: string, { createdAt, head }: FileList): string {
  for (let atMs = Date.parse(createdAt); ; atMs++) {
    const folder = join(to, nameOf(atMs, head.number));
    try {
      renameSync(staging, folder);
    } catch (error) {
      if (isCode(error, ["ENOTEMPTY", "EEXIST"])) continue;
      throw error;
    }
    syncFolder(to);
    return folder;
  }
}

/** Sorts by time. */
function nameOf(atMs: number, number: number): string {
  return `${new Date(atMs).toISOString().replace(/[:.]/g, "-")}-block-${number}`;
}

function removeOld({ to, keep }: BackupRequest, { genesisHash }: ChainInfo): readonly string[] {
  const old = backupsIn(to)
    .filter(({ list }) => list.genesisHash === genesisHash)
    .slice(keep);
  for (const { folder } of old) {
    // Without its list it is no longer a backup, so that a kill leaves none that only looks complete. Another backup to the
    // same place may be removing it, too.
    rmSync(join(folder, LIST_NAME), { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
  return old.map(({ folder }) => folder);
}

function newestBackup(to: string): KnownBackup | undefined {
  return backupsIn(to)[0];
}

/** Complete backups, the newest first. Other folders are not ours. */
function backupsIn(to: string): readonly KnownBackup[] {
  const backups: KnownBackup[] = [];
  for (const name of readdirSync(to)) {
    const folder = join(to, name);
    if (!NAMES.test(name) || !existsSync(join(folder, LIST_NAME))) continue;
    const list = readFileList(folder);
    if (list.ok) backups.push({ folder, list: list.value });
  }
  return backups.sort((a, b) => (a.folder < b.folder ? 1 : -1));
}

const NAMES = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-block-\d+$/;
