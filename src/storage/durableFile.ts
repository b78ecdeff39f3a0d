import { closeSync, lstatSync, openSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { syncFolder } from "../primitives/syncFolder.ts";
import { withDiskErrors } from "./diskErrors.ts";

/**
 * Replaces a small file, or makes it: after a kill or a power cut there is the old content or the new one. `mode` holds from
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

/** Makes a file of that mode and syncs its content; what a kill has left under that name is removed first. */
export function createFile(path: string, content: string, mode: number): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) unlinkSync(path);
  const file = openSync(path, "wx", mode);
  try {
    writeFileSync(file, content, { flush: true });
  } finally {
    closeSync(file);
  }
}
