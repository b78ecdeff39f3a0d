import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { syncFolder } from "../../primitives/syncFolder.ts";
import { type FolderLock, lockFolder } from "./folderLock.ts";
import type { Range } from "./ranges.ts";
import { type DoneFile, type DoneRange, ExportRecord, type ExportSettings } from "./record.ts";

/**
 * The folder of an export.
 *
 *     <the files, under their final names>
 *     .ibex-export/record.jsonl     what the export is of, and a line for each range of blocks that is done
 *     .ibex-export/*.part           files in the making, and those that have yet to be renamed
 *     .ibex-export/lock
 *
 * Invariants: a file under a final name is complete. The line of a range is written, durably, when all of its files are
 * complete and before the first is renamed; files that a kill leaves in between are renamed when the folder is opened again.
 * So a range is done or absent, and nothing is written twice.
 */
export class ExportFolder {
  readonly #folder: string;
  readonly #hidden: string;
  readonly #record: ExportRecord;
  readonly #lock: FolderLock;

  constructor(folder: string, record: ExportRecord, lock: FolderLock) {
    this.#folder = folder;
    this.#hidden = join(folder, HIDDEN);
    this.#record = record;
    this.#lock = lock;
  }

  get ranges(): readonly DoneRange[] {
    return this.#record.ranges;
  }

  /** Finishes or undoes what a kill has left, and removes damaged ranges, which it reports to `onDamage`. */
  recover(onDamage: (range: Range, path: string) => void): void {
    this.#finishNaming();
    this.#removeParts();
    this.#takeOutDamaged(onDamage);
  }

  /** Path of an unfinished file, before it gets its name. */
  partPath(path: string): string {
    return join(this.#hidden, `${basename(path)}${PART}`);
  }

  /** Renames the files of a range, complete under their part paths, to their final names. */
  add(range: DoneRange): void {
    // The names of the parts are durable before the line that promises them.
    syncFolder(this.#hidden);
    this.#record.add(range);
    this.#name(range.files);
  }

  /** Removes ranges with their files. */
  remove(ranges: readonly DoneRange[]): void {
    // After a kill before the second step, the files are found missing.
    for (const { path } of ranges.flatMap(({ files }) => files))
      rmSync(join(this.#folder, path), { force: true });
    this.#record.remove(ranges);
  }

  /** Releases the folder, and removes unfinished files. */
  close(): void {
    this.#removeParts();
    this.#lock.release();
  }

  /** Finishes the renaming that a kill interrupted: only the newest line can be affected. */
  #finishNaming(): void {
    const newest = this.#record.ranges.at(-1);
    if (newest !== undefined) this.#name(newest.files.filter(({ path }) => existsSync(this.partPath(path))));
  }

  /** Removes unfinished files, but not those that have yet to get their names. */
  #removeParts(): void {
    const promised = new Set(this.#record.ranges.at(-1)?.files.map(({ path }) => this.partPath(path)));
    for (const name of readdirSync(this.#hidden)) {
      const path = join(this.#hidden, name);
      if (name.endsWith(PART) && !promised.has(path)) rmSync(path, { force: true });
    }
  }

  #takeOutDamaged(onDamage: (range: Range, path: string) => void): void {
    const damaged: DoneRange[] = [];
    for (const range of this.#record.ranges) {
      const file = range.files.find(({ path, bytes }) => sizeOf(join(this.#folder, path)) !== bytes);
      if (file === undefined) continue;
      damaged.push(range);
      onDamage(range, file.path);
    }
    this.remove(damaged);
  }

  #name(files: readonly DoneFile[]): void {
    const folders = new Set<string>();
    for (const { path } of files) {
      const target = join(this.#folder, path);
      mkdirSync(dirname(target), { recursive: true });
      renameSync(this.partPath(path), target);
      for (let each = dirname(target); each.startsWith(this.#folder); each = dirname(each)) folders.add(each);
    }
    for (const each of folders) syncFolder(each);
  }
}

/**
 * Opens the folder, or creates it. Ranges with missing files, or files of another size, are removed and reported to
 * `onDamage`. Throws errors of the file system, and DiskError.
 */
export function openExportFolder(
  folder: string,
  settings: ExportSettings,
  parts: { readonly processId: number; onDamage(range: Range, path: string): void },
): Result<ExportFolder, "inUse" | "otherExport" | "badRecord" | "otherFiles"> {
  const hidden = join(folder, HIDDEN);
  if (!existsSync(hidden) && existsSync(folder) && readdirSync(folder).length > 0)
    return fail(
      "caller",
      "otherFiles",
      `The folder ${folder} contains other files: use an empty one, or that of an earlier export.`,
    );
  mkdirSync(hidden, { recursive: true });
  const lock = lockFolder(join(hidden, "lock"), parts.processId);
  if (!lock.ok) return lock;
  const record = ExportRecord.open(join(hidden, "record.jsonl"), settings);
  if (!record.ok) {
    lock.value.release();
    return record;
  }
  const opened = new ExportFolder(folder, record.value, lock.value);
  opened.recover(parts.onDamage);
  return ok(opened);
}

/** The name begins with a dot, so that tools that read whole folders skip it. */
const HIDDEN = ".ibex-export";
const PART = ".part";

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
