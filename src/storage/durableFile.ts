import { closeSync, lstatSync, openSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../primitives/syncFolder.ts";
import { translateDiskError, withDiskErrors } from "./diskErrors.ts";

/**
 * Replaces or creates a small file: after a kill or a power cut it has the old content or the new one. `mode` applies from
 * the first byte on. A symbolic link of that name is replaced, not followed. Throws DiskError.
 */
export function replaceFile(path: string, content: string, mode: number): void {
  withDiskErrors(`The file ${path} cannot be written`, () => {
    const draft = `${path}.new`;
    createFile(draft, content, mode);
    renameSync(draft, path);
    syncFolder(dirname(path));
  });
}

/** Like `replaceFile`, without holding up this thread; one call at a time for a path. Rejects with DiskError. */
export async function replaceFileInBackground(path: string, content: string, mode: number): Promise<void> {
  const draft = `${path}.new`;
  try {
    await syncedAfter(await open(draft, "w", mode), (file) => file.writeFile(content));
    await rename(draft, path);
    await syncedAfter(await open(dirname(path), "r"), async () => undefined);
  } catch (error) {
    throw translateDiskError(error, `The file ${path} cannot be written`);
  }
}

async function syncedAfter(
  file: Awaited<ReturnType<typeof open>>,
  work: (opened: typeof file) => Promise<void>,
): Promise<void> {
  try {
    await work(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Creates a file with that mode and syncs its content; a leftover of a kill under that name is removed first. */
export function createFile(path: string, content: string, mode: number): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) unlinkSync(path);
  const file = openSync(path, "wx", mode);
  try {
    writeFileSync(file, content, { flush: true });
  } finally {
    closeSync(file);
  }
}
